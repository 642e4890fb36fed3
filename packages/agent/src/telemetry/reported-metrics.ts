// Metrics that programs report: lines with a name and a number in a file of theirs. The file is not trusted: malformed
// lines are ignored, and names are limited.

const MAX_NAMES = 64;
const LINE = /^([a-zA-Z_][\w:]{0,63})\s+(-?\d{1,18}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)$/i;

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
