// Tables of sstat and sshare: columns by name, each with its own width and a line of dashes below the header, or
// delimited lines for programs.

import { clean } from "../output/text.ts";
import { has, listOf, type SlurmCommandLine } from "./command-line.ts";
import { print } from "./context.ts";
import { fit } from "./format.ts";
import { slurmError } from "./slurm-error.ts";

export interface RecordField<T> {
  readonly name: string;
  readonly width: number;
  /** Aligned left. */
  readonly left?: true;
  readonly value: (row: T) => string;
}

/** Returns the fields of `--format`, or `usual`. Throws for an unknown name. */
export function chosenFields<T>(
  program: string,
  words: SlurmCommandLine,
  all: readonly RecordField<T>[],
  usual: readonly string[],
): readonly RecordField<T>[] {
  return (listOf(words, "format") ?? usual).map((item) => {
    const [name = "", width] = item.split("%");
    const field = all.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (field === undefined) throw slurmError(program, `Invalid field requested: "${name}"`);
    return width === undefined || !/^-?\d{1,4}$/.test(width) ? field : widened(field, width);
  });
}

const widened = <T>({ name, value }: RecordField<T>, width: string): RecordField<T> => ({
  name,
  value,
  width: Math.abs(Number(width)),
  ...(width.startsWith("-") ? { left: true } : {}),
});

export function printRecords<T>(words: SlurmCommandLine, fields: readonly RecordField<T>[], rows: readonly T[]): void {
  const parsable = has(words, "parsable") || has(words, "parsable2");
  const end = has(words, "parsable2") ? "" : "|";
  const line = (textOf: (field: RecordField<T>) => string): string =>
    parsable ? fields.map(textOf).join("|") + end : fields.map((field) => `${fitted(textOf(field), field)} `).join("");
  if (!has(words, "noheader")) {
    print(line(({ name }) => name));
    if (!parsable) print(fields.map(({ width }) => `${"-".repeat(width)} `).join(""));
  }
  for (const row of rows) print(line(({ value }) => clean(value(row))));
}

/** A trailing plus marks a cut value. */
const fitted = <T>(text: string, { width, left }: RecordField<T>): string =>
  text.length > width ? `${text.slice(0, width - 1)}+` : fit(text, width, left !== true);
