// Which kind of registry a setting means.

import type { Registry } from "./registry.ts";
import { directoryRegistry } from "./registry-directory.ts";
import { httpRegistry } from "./registry-http.ts";
import { ociRegistry } from "./registry-oci.ts";

export function openRegistry(where: string): Registry {
  if (/^oci(\+http)?:\/\//.test(where)) return ociRegistry(where);
  if (/^https?:\/\//.test(where)) return httpRegistry(where);
  return directoryRegistry(where.replace(/^file:\/\//, ""));
}
