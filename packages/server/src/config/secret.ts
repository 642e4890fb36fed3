// Secrets are named, not written: `env://NAME` is a variable of the server's environment, `file:///path`
// the first line of a file. What was read is never put into a log or an error.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Secret =
  | { readonly kind: "found"; readonly value: string }
  | { readonly kind: "missing"; readonly problem: string };

export type Environment = Readonly<Record<string, string | undefined>>;

export function readSecret(reference: string, environment: Environment): Secret {
  if (reference.startsWith("env://")) {
    const name = reference.slice("env://".length);
    const value = environment[name];
    return value === undefined || value === "" ? missing(`the variable ${name} is not set`) : found(value);
  }
  if (reference.startsWith("file://")) {
    try {
      const line = readFileSync(fileURLToPath(reference), "utf8").split("\n")[0]?.trim() ?? "";
      return line === "" ? missing(`the file of ${reference} begins with an empty line`) : found(line);
    } catch (error) {
      return missing(`${reference} cannot be read (${(error as NodeJS.ErrnoException).code ?? "not a file URL"})`);
    }
  }
  return missing("is not a reference; write env://NAME or file:///path");
}

const found = (value: string): Secret => ({ kind: "found", value });
const missing = (problem: string): Secret => ({ kind: "missing", problem });
