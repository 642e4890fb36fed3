// The text format of Prometheus, read as samples. What is not a sample (help, types, comments) is passed over.

export interface Sample {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Infinities and NaN, which JSON has no numbers for, stay text. */
  readonly value: number | string;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

export function parseMetrics(text: string): readonly Sample[] {
  return text.split("\n").flatMap((line) => {
    const match = LINE.exec(line);
    if (match === null) return [];
    const [, name = "", labels, written = ""] = match;
    const number = Number(written);
    const value = Number.isFinite(number) ? number : written;
    return [labels === undefined ? { name, value } : { name, labels: labelsOf(labels), value }];
  });
}

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, key = "", value = ""]) => [
      key,
      value.replace(/\\[n"\\]/g, (escaped) => ESCAPES[escaped] ?? escaped),
    ]),
  );
