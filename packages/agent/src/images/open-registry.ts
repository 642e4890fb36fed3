// Which kind of registry a setting means.

import { readFile } from "node:fs/promises";
import type { Registry } from "./registry.ts";
import { directoryRegistry } from "./registry-directory.ts";
import { httpRegistry } from "./registry-http.ts";
import { ociRegistry } from "./registry-oci.ts";

/** `tokenFile`: for one that asks who reads; empty: nobody says. */
export function openRegistry(where: string, tokenFile = ""): Registry {
  if (/^oci(\+http)?:\/\//.test(where)) return ociRegistry(where, () => tokenIn(tokenFile));
  if (/^https?:\/\//.test(where)) return httpRegistry(where);
  return directoryRegistry(where.replace(/^file:\/\//, ""));
}

/** Rejects when it cannot be read: a registry that was to know us must not be asked as by anybody. */
async function tokenIn(file: string): Promise<string | null> {
  if (file === "") return null;
  const token = (await readFile(file, "utf8")).trim();
  if (token === "" || /[\r\n]/.test(token)) throw new Error(`the token file ${file} is not one line with a token`);
  return token;
}
