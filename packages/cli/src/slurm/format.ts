// Formats lines by Slurm's format strings: `%.18i %9P %j` of squeue and sinfo, and `JobID:20,Name:.30` of their long
// form. A width cuts or pads the text; a dot aligns it right. Unknown fields are reported to the caller and printed as
// they were written, as Slurm does.

import { clean } from "../output/text.ts";

export interface Field<T> {
  readonly header: string;
  readonly value: (row: T) => string;
  /** Node lists and durations are not cut when they are aligned right. */
  readonly uncut?: true;
}

export type Fields<T> = Readonly<Record<string, Field<T>>>;

export interface FormatPart<T> {
  /** `null` for literal text, which is in `before`. */
  readonly field: Field<T> | null;
  /** Literal text before the field. */
  readonly before: string;
  /** 0 for the natural width. */
  readonly width: number;
  readonly right: boolean;
}

export interface Format<T> {
  readonly parts: readonly FormatPart<T>[];
  /** Letters or names that are no field. */
  readonly unknown: readonly string[];
}

const textPart = <T>(before: string): FormatPart<T> => ({ field: null, before, width: 0, right: false });

export function parseFormat<T>(text: string, fields: Fields<T>): Format<T> {
  const parts: FormatPart<T>[] = [];
  const unknown: string[] = [];
  let end = 0;
  const all = text.toLowerCase() === "%all";
  const written = all ? everyLetter(fields) : text;
  for (const match of written.matchAll(/%(\.?)(#|\d{1,4})?([^\d.#])/gu)) {
    const [whole, dot, width = "0", letter = ""] = match;
    const before = written.slice(end, match.index);
    end = match.index + whole.length;
    const field = Object.hasOwn(fields, letter) ? fields[letter] : undefined;
    if (field !== undefined) {
      parts.push({ field, before, width: width === "#" ? 0 : Number(width), right: dot === "." });
    } else {
      if (letter !== "%") unknown.push(letter);
      parts.push(textPart(before + (letter === "%" ? "%" : whole)));
    }
  }
  if (end < written.length) parts.push(textPart(written.slice(end)));
  return { parts, unknown };
}

/** Expands `%all`, lower-case letters first. */
const everyLetter = <T>(fields: Fields<T>): string => {
  const letters = Object.keys(fields).filter((name) => name.length === 1);
  const lower = letters.filter((letter) => letter === letter.toLowerCase()).sort((a, b) => (a < b ? -1 : 1));
  const upper = letters.filter((letter) => letter !== letter.toLowerCase()).sort((a, b) => (a < b ? -1 : 1));
  return [...lower, ...upper].map((letter) => `%${letter}`).join("|");
};

const LONG_WIDTH = 20;

/** Parses `Name[:[.]width[text]],...`. Names are lower-case keys of `fields`, or map to a letter by `letters`. */
export function parseLongFormat<T>(
  text: string,
  fields: Fields<T>,
  letters: Readonly<Record<string, string>>,
): Format<T> {
  const parts: FormatPart<T>[] = [];
  const unknown: string[] = [];
  for (const item of text.split(",").filter((one) => one.trim() !== "")) {
    const [name = "", rest] = item.trim().split(/:(.*)/s);
    const [, dot = "", width, behind = ""] = /^(\.?)(\d{1,4})?(.*)$/s.exec(rest ?? "") ?? [];
    const key = name.toLowerCase();
    const letter = Object.hasOwn(letters, key) ? (letters[key] ?? key) : key;
    const known = letter.length > 1 || Object.hasOwn(letters, key);
    const field = known && Object.hasOwn(fields, letter) ? fields[letter] : undefined;
    if (field === undefined) unknown.push(name);
    else parts.push({ field, before: "", width: width === undefined ? LONG_WIDTH : Number(width), right: dot === "." });
    if (behind !== "") parts.push(textPart(behind));
  }
  return { parts, unknown };
}

/** Headers are always cut to the width. */
export const headerLine = <T>(parts: readonly FormatPart<T>[]): string =>
  line(parts, ({ header }, width, right) => fit(header, width, right));

export const rowLine = <T>(parts: readonly FormatPart<T>[], row: T): string =>
  line(parts, ({ value, uncut }, width, right) => {
    const text = clean(value(row));
    return uncut === true && right ? text.padStart(width) : fit(text, width, right);
  });

type Fit<T> = (field: Field<T>, width: number, right: boolean) => string;

const line = <T>(parts: readonly FormatPart<T>[], fitted: Fit<T>): string =>
  parts.map(({ field, before, width, right }) => before + (field === null ? "" : fitted(field, width, right))).join("");

/** Cuts or pads the text to the width; 0 leaves it unchanged. */
export function fit(text: string, width: number, right: boolean): string {
  if (width === 0) return text;
  const cut = text.slice(0, width);
  return right ? cut.padStart(width) : cut.padEnd(width);
}
