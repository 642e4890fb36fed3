// What this server was told, key by key, and by whom: its command line, its file, its environment, or nobody. Made once, when the
// configuration is read, with secrets already taken out.

import type { Stated } from "./config.ts";
import { type FileKey, fileKeys } from "./keys.ts";
import { masked } from "./masked.ts";
import type { Environment } from "./secret.ts";

/** Variables that are looked at for keys that are left out. */
const VARIABLES: Readonly<Record<string, string>> = {
  "api.oidc_hmac_secret": "LATTICE_OIDC_HMAC_SECRET",
  ...s3Variables("backup"),
  ...s3Variables("logs"),
};

export interface Told {
  readonly flags: unknown;
  readonly file: unknown;
  readonly environment: Environment;
}

export const statedOf = (told: Told): Readonly<Record<string, Stated>> =>
  Object.fromEntries(fileKeys().map((known) => [known.key, statedKey(known, told)]));

function statedKey({ key, preset }: FileKey, { flags, file, environment }: Told): Stated {
  const path = key.split(".");
  const flag = valueAt(flags, path);
  if (flag !== undefined) return shown(key, "flag", flag);
  const written = valueAt(file, path);
  if (written !== undefined) return shown(key, "file", written);
  const variable = environment[VARIABLES[key] ?? ""] ?? "";
  if (variable !== "") return shown(key, "environment", variable);
  return shown(key, "default", preset);
}

const shown = (key: string, source: Stated["source"], value: unknown): Stated => ({
  source,
  value: JSON.stringify(masked(key, value)),
});

function valueAt(document: unknown, path: readonly string[]): unknown {
  let at = document;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return at ?? undefined;
}

function s3Variables(section: string): Readonly<Record<string, string>> {
  return {
    [`${section}.s3.endpoint`]: "AWS_ENDPOINT_URL",
    [`${section}.s3.region`]: "AWS_REGION",
    [`${section}.s3.access_key_id`]: "AWS_ACCESS_KEY_ID",
    [`${section}.s3.secret_access_key`]: "AWS_SECRET_ACCESS_KEY",
  };
}
