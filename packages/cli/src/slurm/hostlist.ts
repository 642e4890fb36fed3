// Compresses node names into Slurm's host lists: n[1-4,7]. Numbers keep their leading zeros. Only the last number of
// a name is compressed.

import { rangesOf } from "../output/index-ranges.ts";

interface Run {
  readonly prefix: string;
  readonly width: number;
  readonly numbers: number[];
}

export function compressHosts(names: readonly string[]): string {
  const runs = new Map<string, Run>();
  const order: (string | Run)[] = [];
  for (const name of new Set(names)) {
    const match = /^(.*?)(\d{1,9})$/.exec(name);
    if (match === null) {
      order.push(name);
      continue;
    }
    const [, prefix = "", digits = ""] = match;
    const width = digits.startsWith("0") ? digits.length : 0;
    const key = `${prefix}\0${width}`;
    const run = runs.get(key) ?? { prefix, width, numbers: [] };
    if (!runs.has(key)) order.push(run);
    runs.set(key, run);
    run.numbers.push(Number(digits));
  }
  return order.map((item) => (typeof item === "string" ? item : runText(item))).join(",");
}

function runText({ prefix, width, numbers }: Run): string {
  const shown = (value: number): string => String(value).padStart(width, "0");
  const ranges = rangesOf(numbers).map(([from, to]) => (from === to ? shown(from) : `${shown(from)}-${shown(to)}`));
  return numbers.length === 1 ? `${prefix}${ranges[0]}` : `${prefix}[${ranges.join(",")}]`;
}
