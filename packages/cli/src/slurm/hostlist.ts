// Names of nodes put together as Slurm shows them: n[1-4,7]. Numbers keep their leading zeros, and names
// that differ in more than one number stand for themselves.

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

/** Sorted and joined where they follow each other. */
export function rangesOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const value of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && value <= last[1] + 1) last[1] = Math.max(last[1], value);
    else ranges.push([value, value]);
  }
  return ranges;
}
