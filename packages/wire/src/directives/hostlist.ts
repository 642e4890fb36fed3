// Parses Slurm's node lists, such as `n1,n[3-5,7]`; leading zeros are kept.

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
