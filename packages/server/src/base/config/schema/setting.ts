// One row of the table of settings, and the types that follow from the table. A row says how a value is parsed, what applies when
// the file leaves it out, whether it can change while servers run, and what it means. Rows are grouped into the sections of the
// file; the names of sections and keys are spelt in snake case there and in camel case in `Config`.

import { z } from "zod";

export interface SettingRow<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** As written in the file. `null` when there is no default, or it follows from other settings. */
  readonly preset: unknown;
  /** Describes the default where `preset` is `null`. */
  readonly unset: string;
  /** Can be changed for the whole cluster while servers run. */
  readonly live: boolean;
  readonly doc: string;
  /** A value for the example file, where the key is commented out; `null` prints the default. */
  readonly example: unknown;
}

export interface Section {
  readonly [name: string]: SettingRow | Section;
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;

/** The parsed values of a section, under camel-case names. */
export type ValuesOf<S> = {
  readonly [Name in keyof S & string as Camel<Name>]: S[Name] extends SettingRow<infer T> ? T : ValuesOf<S[Name]>;
};

/** A setting with a default that the file would write in the same way. */
export const setting = <T>(schema: z.ZodType<T>, preset: unknown, doc: string): SettingRow<T> => ({
  schema,
  preset,
  doc,
  unset: "",
  live: false,
  example: null,
});

/** A setting that is `null` when the file leaves it out; `unset` says what that means. */
export const optional = <T>(
  schema: z.ZodType<T>,
  { unset, example }: { readonly unset: string; readonly example: unknown },
  doc: string,
): SettingRow<T | null> => ({ schema, preset: null, unset, live: false, doc, example });

export const live = <T>(row: SettingRow<T>): SettingRow<T> => ({ ...row, live: true });

export const isSetting = (node: SettingRow | Section): node is SettingRow =>
  "schema" in node && node.schema instanceof z.ZodType;

export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Every row below a section with its path, in the order of the table. */
export function rowsOf(section: Section, at: readonly string[] = []): readonly (readonly [string, SettingRow])[] {
  return Object.entries(section).flatMap(([name, node]) =>
    isSetting(node) ? [[[...at, name].join("."), node] as const] : rowsOf(node, [...at, name]),
  );
}

/** The schema of a section of the file. Unknown keys are refused; a section may be empty or missing. */
export function schemaOf(node: SettingRow | Section): z.ZodType {
  if (isSetting(node))
    return node.preset === null ? node.schema.optional() : node.schema.prefault(node.preset as never);
  const shape = Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, schemaOf(inner)]));
  return z.preprocess((value) => value ?? {}, z.strictObject(shape));
}

/** The parsed file under camel-case names, with `null` for every key that has no value. */
export function valuesOf<S extends Section>(section: S, file: Readonly<Record<string, unknown>>): ValuesOf<S> {
  const entries = Object.entries(section).map(([name, node]) => {
    const value = file[name];
    return [camelCase(name), isSetting(node) ? (value ?? null) : valuesOf(node, value as Record<string, unknown>)];
  });
  return Object.fromEntries(entries) as ValuesOf<S>;
}
