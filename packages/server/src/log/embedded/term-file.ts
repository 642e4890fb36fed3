// The term, in a file of its own: it must be durable before a candidate leads in it, or two leaders could write under
// one term.

import { join } from "node:path";
import { LogError } from "../contract/replicated-log.ts";
import { errorCode, type Files, readFully, replaceFile } from "./files.ts";

const NAME = "term";
const MAX_BYTES = 32;

export async function readTerm(files: Files, dir: string): Promise<number> {
  const path = join(dir, NAME);
  const content = Buffer.alloc(MAX_BYTES);
  let length = 0;
  try {
    const file = await files.open(path, "read");
    try {
      length = await readFully(file, content, 0);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (errorCode(cause) === "ENOENT") return 0;
    throw cause;
  }
  const text = content.toString("utf8", 0, length);
  if (!/^[0-9]{1,15}\n$/.test(text)) throw new LogError("corrupt", `${path}: not a term at offset 0`);
  return Number(text);
}

export async function writeTerm(files: Files, dir: string, term: number): Promise<void> {
  await replaceFile(files, dir, NAME, Buffer.from(`${term}\n`));
}
