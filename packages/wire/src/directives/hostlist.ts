// Parses and writes Slurm's node lists, such as `n1,n[3-5,7]`; leading zeros are kept. Only the last number of a name is
// compressed.

/** More names than this in one list are a mistake. */
const MAX_HOSTS = 10_000;

/** Returns `null` for text that is not a node list. */
export function expandHostlist(text: string): string[] | null {
  const out: string[] = [];
  for (const part of text.split(/,(?![^[]*\])/)) {
    if (part === "") continue;
    const names = expandPart(part);
    if (names === null || out.length + names.length > MAX_HOSTS) return null;
    out.push(...names);
  }
  return out.length === 0 ? null : out;
}

function expandPart(part: string): string[] | null {
  const match = /^([^[\]]*)\[([0-9,-]+)\]([^[\]]*)$/.exec(part);
  if (match === null) return /[[\]]/.test(part) ? null : [part];
  const [, head = "", ranges = "", tail = ""] = match;
  const out: string[] = [];
  for (const range of ranges.split(",")) {
    const ends = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range);
    if (ends === null) return null;
    const [, from = "", to = from] = ends;
    if (Number(to) < Number(from) || Number(to) - Number(from) >= MAX_HOSTS) return null;
    for (let n = Number(from); n <= Number(to); n++) out.push(`${head}${`${n}`.padStart(from.length, "0")}${tail}`);
  }
  return out;
}

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
  const ranges = consecutive(numbers).map(([from, to]) => (from === to ? shown(from) : `${shown(from)}-${shown(to)}`));
  return numbers.length === 1 ? `${prefix}${ranges[0]}` : `${prefix}[${ranges.join(",")}]`;
}

/** Returns the sorted numbers as inclusive ranges. */
export function consecutive(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const value of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && value === last[1] + 1) last[1] = value;
    else ranges.push([value, value]);
  }
  return ranges;
}
