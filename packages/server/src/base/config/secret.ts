// Resolves references to secrets: `env://NAME` is a variable of the server's environment, `file:///path` the first
// line of a file, `vault://path` a secret fetched from Vault before. Values never appear in logs or errors.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type SecretResult =
  | { readonly kind: "found"; readonly value: string }
  | { readonly kind: "missing"; readonly problem: string };

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export function readSecret(reference: string, environment: EnvironmentVariables): SecretResult {
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
  if (isVaultReference(reference)) {
    const value = fetched.get(reference);
    return value === undefined ? missing(`${reference} was not fetched from Vault`) : found(value);
  }
  return missing("is not a reference; write env://NAME, file:///path or vault://path");
}

/** Secrets fetched in advance, by reference; the configuration is read synchronously. */
const fetched = new Map<string, string>();

export const keepSecret = (reference: string, value: string): void => void fetched.set(reference, value);

/** Returns whether the text is a reference to a secret. */
export const isReference = (text: string): boolean => /^(env|file|vault):\/\//.test(text);

export const isVaultReference = (reference: string): boolean => reference.startsWith("vault://");

const found = (value: string): SecretResult => ({ kind: "found", value });
const missing = (problem: string): SecretResult => ({ kind: "missing", problem });
