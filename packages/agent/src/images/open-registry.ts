// Opens the registry that a setting names.

import { readFile } from "node:fs/promises";
import type { ImageRegistry } from "./registry.ts";
import { directoryRegistry } from "./registry-directory.ts";
import { httpRegistry } from "./registry-http.ts";
import { ociRegistry } from "./registry-oci.ts";

/** `tokenFile`: for a registry that requires authentication; empty for anonymous access. */
export function openRegistry(where: string, tokenFile = ""): ImageRegistry {
  if (/^oci(\+http)?:\/\//.test(where)) return ociRegistry(where, () => tokenIn(tokenFile));
  if (/^https?:\/\//.test(where)) return httpRegistry(where);
  return directoryRegistry(where.replace(/^file:\/\//, ""));
}

/** Rejects when the file cannot be read: a registry that requires authentication must not be read anonymously. */
async function tokenIn(file: string): Promise<string | null> {
  if (file === "") return null;
  const token = (await readFile(file, "utf8")).trim();
  if (token === "" || /[\r\n]/.test(token)) throw new Error(`the token file ${file} is not one line with a token`);
  return token;
}
