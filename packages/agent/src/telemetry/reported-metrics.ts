// Metrics that programs report: lines with a name and a number in a file of theirs. The file belongs to a user and is
// not trusted: links are not followed, the size is limited, and malformed lines are ignored.

import { constants } from "node:fs";
import { open } from "node:fs/promises";

const MAX_BYTES = 16_384;
const MAX_NAMES = 64;
const LINE = /^([a-zA-Z_][\w:]{0,63})\s+(-?\d{1,18}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)$/i;

export async function readReported(path: string | null): Promise<Record<string, number>> {
  if (path === null) return {};
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return {};
  try {
    if (!(await file.stat()).isFile()) return {};
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return parseReported(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** The last line of a name counts. */
export function parseReported(text: string): Record<string, number> {
  const values: Record<string, number> = Object.create(null);
  for (const line of text.split("\n").slice(0, 4 * MAX_NAMES)) {
    const match = LINE.exec(line.trim());
    const value = Number(match?.[2]);
    if (match?.[1] === undefined || !Number.isFinite(value)) continue;
    if (Object.keys(values).length < MAX_NAMES || match[1] in values) values[match[1]] = value;
  }
  return { ...values };
}
