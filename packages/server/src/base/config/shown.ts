// The value of a setting as administrators see it: in force, with its source, and without secrets. A secret that is a reference is
// shown as that reference, a literal one as "(set)". URLs lose user names, passwords and query strings, and those of webhooks
// also their path, which is the secret of many receivers.

import { type Config, DERIVED, type Stated } from "./config.ts";
import { type EnvironmentVariables, isReference } from "./secret.ts";
import { SETTINGS } from "./table/index.ts";

export const IS_SET = "(set)";

/** By the end of the name, so that keys added later are masked too. */
const SECRET = /(^|_)(secret|token|password|passphrase|credentials|access_key_id|secret_access_key)$/;
const HOOKS = "notifications.webhooks";

const S3_VARIABLES = {
  endpoint: "AWS_ENDPOINT_URL",
  region: "AWS_REGION",
  access_key_id: "AWS_ACCESS_KEY_ID",
  secret_access_key: "AWS_SECRET_ACCESS_KEY",
};
/** The environment variables that apply when the file leaves a key out. */
const VARIABLES: Readonly<Record<string, string>> = {
  "api.oidc_hmac_secret": "LATTICE_OIDC_HMAC_SECRET",
  ...Object.fromEntries(
    ["backup", "logs"].flatMap((section) =>
      Object.entries(S3_VARIABLES).map(([name, variable]) => [`${section}.s3.${name}`, variable]),
    ),
  ),
};

interface Sources {
  readonly flags: unknown;
  readonly file: unknown;
  readonly environment: EnvironmentVariables;
}

/** Returns every key with its value as written and its source. */
export const statedOf = (sources: Sources): Readonly<Record<string, Stated>> =>
  Object.fromEntries(Array.from(SETTINGS, ([key, { preset }]) => [key, statedKey(key, preset, sources)]));

function statedKey(key: string, preset: unknown, { flags, file, environment }: Sources): Stated {
  const path = key.split(".");
  const flag = valueAt(flags, path);
  if (flag !== undefined) return stated(key, "flag", flag);
  const written = valueAt(file, path);
  if (written !== undefined) return stated(key, "file", written);
  const variable = environment[VARIABLES[key] ?? ""] ?? "";
  if (variable !== "") return stated(key, "environment", variable);
  return stated(key, "default", preset);
}

export const stated = (key: string, source: Stated["source"], value: unknown): Stated => ({
  source,
  value: JSON.stringify(masked(key, value)),
});

/** Returns the value in force as JSON, without secrets. */
export function shownValue(config: Config, key: string): string {
  const derived = DERIVED[key];
  return derived === undefined ? (config.stated[key]?.value ?? "null") : JSON.stringify(masked(key, derived(config)));
}

export function masked(key: string, value: unknown): unknown {
  const name = key.slice(key.lastIndexOf(".") + 1);
  if (typeof value === "string") {
    if (SECRET.test(name)) return isReference(value) ? value : IS_SET;
    return maskedUrl(value, key.startsWith(HOOKS) && name === "url");
  }
  if (Array.isArray(value)) return value.map((item) => masked(key, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, masked(`${key}.${inner}`, item)]));
}

function maskedUrl(text: string, hidePath: boolean): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  const hasCredentials = url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "";
  if (hidePath) return `${url.origin}/${IS_SET}`;
  return hasCredentials ? `${url.origin}${url.pathname} ${IS_SET}` : text;
}

function valueAt(document: unknown, path: readonly string[]): unknown {
  let at = document;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return at ?? undefined;
}
