// Lines by Slurm's format texts: `%.18i %9P %j` of squeue and sinfo, and `JobID:20,Name:.30` of their long
// form. A width cuts what is longer and fills what is shorter; a dot puts the text to the right. What stands for
// nothing is told, and shown as it was written, as Slurm does.

import { clean } from "../output/text.ts";

export interface Field<T> {
  readonly header: string;
  readonly value: (row: T) => string;
  /** Lists of nodes and spans: to the right they are never cut. */
  readonly uncut?: true;
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

export interface Format<T> {
  readonly parts: readonly Part<T>[];
  /** Letters or names that stand for nothing. */
  readonly unknown: readonly string[];
}

const textPart = <T>(before: string): Part<T> => ({ field: null, before, width: 0, right: false });

export function parseFormat<T>(text: string, fields: Fields<T>): Format<T> {
  const parts: Part<T>[] = [];
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

/** `%all`: small letters first. */
const everyLetter = <T>(fields: Fields<T>): string => {
  const letters = Object.keys(fields).filter((name) => name.length === 1);
  const small = letters.filter((letter) => letter === letter.toLowerCase()).sort((a, b) => (a < b ? -1 : 1));
  const large = letters.filter((letter) => letter !== letter.toLowerCase()).sort((a, b) => (a < b ? -1 : 1));
  return [...small, ...large].map((letter) => `%${letter}`).join("|");
};

const LONG_WIDTH = 20;

/** `Name[:[.]width[text]],...`; names are those of `fields`, in small letters, or stand for a letter of them. */
export function parseLongFormat<T>(
  text: string,
  fields: Fields<T>,
  letters: Readonly<Record<string, string>>,
): Format<T> {
  const parts: Part<T>[] = [];
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

/** Headers are always cut. */
export const headerLine = <T>(parts: readonly Part<T>[]): string =>
  line(parts, ({ header }, width, right) => fit(header, width, right));

export const rowLine = <T>(parts: readonly Part<T>[], row: T): string =>
  line(parts, ({ value, uncut }, width, right) => {
    const text = clean(value(row));
    return uncut === true && right ? text.padStart(width) : fit(text, width, right);
  });

type Fit<T> = (field: Field<T>, width: number, right: boolean) => string;

const line = <T>(parts: readonly Part<T>[], fitted: Fit<T>): string =>
  parts.map(({ field, before, width, right }) => before + (field === null ? "" : fitted(field, width, right))).join("");

/** Cut or filled to the width; 0: as it is. */
export function fit(text: string, width: number, right: boolean): string {
  if (width === 0) return text;
  const cut = text.slice(0, width);
  return right ? cut.padStart(width) : cut.padEnd(width);
}
