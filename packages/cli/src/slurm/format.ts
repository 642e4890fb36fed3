// Lines by Slurm's format texts: `%.18i %9P %j` of squeue and sinfo, and `JobID:20,Name:.30` of their long
// form. A width cuts what is longer and fills what is shorter; a dot puts the text to the right.

import { clean } from "../output/text.ts";

export interface Field<T> {
  readonly header: string;
  readonly value: (row: T) => string;
}

export type Fields<T> = Readonly<Record<string, Field<T>>>;

export interface Part<T> {
  /** Null: only `before`. */
  readonly field: Field<T> | null;
  /** Text in front of the field, as it is. */
  readonly before: string;
  /** 0: as wide as it is. */
  readonly width: number;
  readonly right: boolean;
}

/** A string: the letter that stands for nothing. */
export function parseFormat<T>(text: string, fields: Fields<T>): readonly Part<T>[] | string {
  const parts: Part<T>[] = [];
  let end = 0;
  for (const match of text.matchAll(/%(\.?)(#|\d{1,4})?([A-Za-z%])/g)) {
    const [whole, dot, width = "0", letter = ""] = match;
    const before = text.slice(end, match.index);
    end = match.index + whole.length;
    if (letter === "%") {
      parts.push({ field: null, before: `${before}%`, width: 0, right: false });
      continue;
    }
    const field = Object.hasOwn(fields, letter) ? fields[letter] : undefined;
    if (field === undefined) return letter;
    parts.push({ field, before, width: width === "#" ? 0 : Number(width), right: dot === "." });
  }
  if (end < text.length) parts.push({ field: null, before: text.slice(end), width: 0, right: false });
  return parts;
}

const LONG_WIDTH = 20;

/** `Name[:[.]width],...`; a string: the name that stands for nothing. */
export function parseLongFormat<T>(
  text: string,
  fields: Fields<T>,
  letters: Readonly<Record<string, string>>,
): readonly Part<T>[] | string {
  const parts: Part<T>[] = [];
  for (const item of text.split(",")) {
    const match = /^([A-Za-z]+)(?::(\.?)(\d{1,4})?)?$/.exec(item.trim());
    const name = (match?.[1] ?? item).toLowerCase();
    const letter = Object.hasOwn(letters, name) ? letters[name] : undefined;
    const field = letter === undefined ? undefined : fields[letter];
    if (match === null || field === undefined) return item.trim();
    const width = match[3] === undefined ? LONG_WIDTH : Number(match[3]);
    parts.push({ field, before: "", width, right: match[2] === "." });
  }
  return parts;
}

export const headerLine = <T>(parts: readonly Part<T>[]): string => line(parts, (field) => field.header);

export const rowLine = <T>(parts: readonly Part<T>[], row: T): string =>
  line(parts, (field) => clean(field.value(row)));

const line = <T>(parts: readonly Part<T>[], textOf: (field: Field<T>) => string): string =>
  parts
    .map(({ field, before, width, right }) => before + (field === null ? "" : fit(textOf(field), width, right)))
    .join("");

/** Cut or filled to the width; 0: as it is. */
export function fit(text: string, width: number, right: boolean): string {
  if (width === 0) return text;
  const cut = text.slice(0, width);
  return right ? cut.padStart(width) : cut.padEnd(width);
}
