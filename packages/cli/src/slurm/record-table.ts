// Tables of sacct's kind, as sstat and sshare print them too: columns by name, each with a width of its own and dashes
// below, or lines with a delimiter for programs.

import { clean } from "../output/text.ts";
import { print } from "./desk.ts";
import { fit } from "./format.ts";
import { refuse } from "./refusal.ts";
import { has, listOf, type Words } from "./words.ts";

export interface RecordField<T> {
  readonly name: string;
  readonly width: number;
  /** To the left. */
  readonly left?: true;
  readonly value: (row: T) => string;
}

/** Those of `--format`, or these. Refuses a name that stands for nothing. */
export function chosenFields<T>(
  program: string,
  words: Words,
  all: readonly RecordField<T>[],
  usual: readonly string[],
): readonly RecordField<T>[] {
  return (listOf(words, "format") ?? usual).map((item) => {
    const [name = "", width] = item.split("%");
    const field = all.find((one) => one.name.toLowerCase() === name.toLowerCase());
    if (field === undefined) throw refuse(program, `Invalid field requested: "${name}"`);
    return width === undefined || !/^-?\d{1,4}$/.test(width) ? field : widened(field, width);
  });
}

const widened = <T>({ name, value }: RecordField<T>, width: string): RecordField<T> => ({
  name,
  value,
  width: Math.abs(Number(width)),
  ...(width.startsWith("-") ? { left: true } : {}),
});

export function printRecords<T>(words: Words, fields: readonly RecordField<T>[], rows: readonly T[]): void {
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

/** A plus says that something was cut off. */
const fitted = <T>(text: string, { width, left }: RecordField<T>): string =>
  text.length > width ? `${text.slice(0, width - 1)}+` : fit(text, width, left !== true);
