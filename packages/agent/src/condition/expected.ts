// The hardware this node should have, on disk: the GPUs and adapters found in this boot. A restarted agent must notice
// a GPU that fell off the bus, rather than take the rest for complete.

import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { boardsOf, type ExpectedHardware, NOTHING_EXPECTED } from "../discovery/faults.ts";
import type { Nic } from "../discovery/nics.ts";
import type { Survey } from "../discovery/survey.ts";

const FILE = "found.json";

interface Found {
  readonly bootId: string;
  readonly boards: number;
  readonly nics: readonly Nic[];
}

export function recallExpected(dataDir: string, bootId: string): ExpectedHardware {
  try {
    const found = JSON.parse(readFileSync(join(dataDir, FILE), "utf8")) as Found;
    if (found.bootId !== bootId || !Array.isArray(found.nics)) return NOTHING_EXPECTED;
    return { units: 0, boards: Number(found.boards) || 0, nics: found.nics };
  } catch {
    return NOTHING_EXPECTED;
  }
}

/** Only grows: hardware found once in this boot is expected until the next. */
export function expectAlso(expected: ExpectedHardware, { gpus, nics }: Survey, units: number): ExpectedHardware {
  const known = new Set(expected.nics.map(({ name }) => name));
  return {
    units,
    boards: Math.max(expected.boards, boardsOf(gpus)),
    nics: [...expected.nics, ...nics.filter(({ name }) => !known.has(name))],
  };
}

export async function rememberExpected(
  dataDir: string,
  bootId: string,
  { boards, nics }: ExpectedHardware,
): Promise<void> {
  const path = join(dataDir, FILE);
  const found: Found = { bootId, boards, nics };
  await writeFile(`${path}.new`, JSON.stringify(found), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
