// The only way to make a `Config`: parses a YAML file (or none), lays the flags of the command line over it, and freezes the result.
// Every problem is reported at once with its path, and an unknown key with the nearest known one. Values are taken as written:
// no `${}` is expanded, so that a file means the same in every environment.

import { readFileSync } from "node:fs";
import { nearest } from "@lattice/wire";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { type Config, configOf } from "./config.ts";
import { hintFor, withMainNames } from "./names.ts";
import { ConfigError, type ConfigProblem } from "./problem.ts";
import { problemsOf } from "./rules.ts";
import { isSetting, type Section, schemaOf, valuesOf } from "./schema/setting.ts";
import { statedOf } from "./shown.ts";
import { type Settings, TABLE } from "./table/index.ts";

/** As in the file: section, key, value. Undefined values are ignored. */
export type ConfigOverrides = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A configuration file is a few kilobytes; anything larger is a mistake. */
const MAX_FILE_BYTES = 1_048_576;

const settingsOf = (file: unknown): Settings => valuesOf(TABLE, file as Record<string, unknown>);

const fileSchema = schemaOf(TABLE).superRefine((file, context) => {
  for (const { path, message } of problemsOf(settingsOf(file), process.env))
    context.addIssue({ code: "custom", path: path.split("."), message });
});

export function loadConfig(path: string | null, overrides: ConfigOverrides = {}): Config {
  const source = path ?? "the configuration";
  const written = withMainNames(path === null ? {} : readFile(path));
  const result = fileSchema.safeParse(overlay(written.document, overrides));
  const problems = [...written.problems, ...(result.error?.issues.flatMap(toProblems) ?? [])];
  if (!result.success || problems.length > 0) throw new ConfigError(source, problems);
  const stated = statedOf({ flags: overrides, file: written.document, environment: process.env });
  return deepFreeze({ ...configOf(settingsOf(result.data), process.env), stated });
}

function readFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new ConfigError(path, [{ path: "", message: `cannot be read (${code})` }]);
  }
  if (text.length > MAX_FILE_BYTES) throw new ConfigError(path, [{ path: "", message: "is larger than 1 MiB" }]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const problems = document.errors.map((error) => {
    const at = lines.linePos(error.pos[0]);
    return { path: "", message: `line ${at.line}, column ${at.col}: ${error.message.split("\n")[0] ?? ""}` };
  });
  if (problems.length > 0) throw new ConfigError(path, problems);
  return document.toJS({ maxAliasCount: 0 });
}

function overlay(written: unknown, overrides: ConfigOverrides): unknown {
  if (written !== null && written !== undefined && (typeof written !== "object" || Array.isArray(written)))
    return written;
  const merged: Record<string, unknown> = { ...written };
  for (const [name, values] of Object.entries(overrides)) {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    const below = merged[name];
    merged[name] = typeof below === "object" && below !== null ? { ...below, ...given } : given;
  }
  return merged;
}

function toProblems(issue: z.core.$ZodIssue): ConfigProblem[] {
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") return [{ path: path.join("."), message: issue.message }];
  const known = namesAt(path);
  return issue.keys.map((name) => {
    const key = [...path, name].join(".");
    const suggestion = nearest(name, known);
    const help = suggestion === null ? `known keys: ${known.join(", ")}` : `did you mean ${suggestion}?`;
    return { path: key, message: hintFor(key) ?? `is not a known key; ${help}` };
  });
}

/** The keys that the file may have at a path. */
function namesAt(path: readonly string[]): readonly string[] {
  let at: Section = TABLE;
  for (const step of path) {
    const node = Object.hasOwn(at, step) ? at[step] : undefined;
    if (node === undefined || isSetting(node)) return [];
    at = node;
  }
  return Object.keys(at);
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}
