// Fetches secrets from HashiCorp Vault: `vault://path` names one in its key-value store (version 2),
// `vault://path#field` a field other than `value`. They are fetched once, before the configuration is read, and stay
// in memory; a server does not start without them. Values never appear in logs or errors.

import { setTimeout as sleep } from "node:timers/promises";
import { parseDocument, visit } from "yaml";
import { type EnvironmentVariables, isVaultReference, keepSecret, readSecret } from "./secret.ts";

interface VaultAccess {
  /** For example https://vault.example.com:8200. */
  readonly address: string;
  readonly token: string;
  /** Mount path of the key-value store. */
  readonly mount: string;
  readonly namespace: string;
}

const TRIES = 4;
const FIRST_PAUSE_MS = 200;
const REQUEST_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1_048_576;
const PATH = /^[A-Za-z0-9._/-]{1,512}$/;

/**
 * Fetches every secret that a configuration text names, for `readSecret`. Rejects with the reason when one is not
 * available.
 */
export async function fetchVaultSecrets(text: string, environment: EnvironmentVariables): Promise<void> {
  const references = referencesIn(text);
  if (references.size === 0) return;
  const access = accessOf(environment);
  for (const reference of references) keepSecret(reference, await fetchSecret(access, reference));
}

/** Ignores comments; invalid YAML is refused when it is loaded. */
function referencesIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  visit(parseDocument(text), {
    Scalar: (_key, { value }) => {
      if (typeof value === "string" && isVaultReference(value)) found.add(value);
    },
  });
  return found;
}

function accessOf(environment: EnvironmentVariables): VaultAccess {
  const address = environment.VAULT_ADDR ?? "";
  if (!URL.canParse(address)) throw new Error("VAULT_ADDR must be the URL of Vault when vault:// secrets are used");
  const named = environment.VAULT_TOKEN_FILE;
  const file = named === undefined || named === "" ? null : readSecret(`file://${named}`, environment);
  if (file?.kind === "missing") throw new Error(`VAULT_TOKEN_FILE: ${file.problem}`);
  const token = file?.value ?? environment.VAULT_TOKEN ?? "";
  if (token === "") throw new Error("VAULT_TOKEN or VAULT_TOKEN_FILE must be set for vault:// secrets");
  return {
    address: address.replace(/\/+$/, ""),
    token,
    mount: environment.VAULT_MOUNT ?? "secret",
    namespace: environment.VAULT_NAMESPACE ?? "",
  };
}

export async function fetchSecret(access: VaultAccess, reference: string): Promise<string> {
  if (!isVaultReference(reference)) throw new Error(`${reference} does not begin with vault://`);
  const [path = "", field = "value"] = reference.slice("vault://".length).split("#");
  if (!PATH.test(path) || path.split("/").includes("..")) throw new Error(`${reference} is not a path in Vault`);
  let why = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await sleep(FIRST_PAUSE_MS * 2 ** (tries - 1));
    const answer = await ask(access, path);
    if (answer.kind === "found") return fieldOf(answer.data, field, reference);
    if (answer.kind === "refused") throw new Error(`${reference}: ${answer.why}`);
    why = answer.why;
  }
  throw new Error(`${reference}: Vault at ${access.address} ${why}`);
}

type Answer =
  | { readonly kind: "found"; readonly data: Readonly<Record<string, unknown>> }
  | { readonly kind: "refused"; readonly why: string }
  /** Sealed, in standby, overloaded or unreachable: a retry may succeed. */
  | { readonly kind: "later"; readonly why: string };

async function ask({ address, token, mount, namespace }: VaultAccess, path: string): Promise<Answer> {
  const url = `${address}/v1/${mount}/data/${path.split("/").map(encodeURIComponent).join("/")}`;
  try {
    const answer = await fetch(url, {
      headers: { "x-vault-token": token, ...(namespace === "" ? {} : { "x-vault-namespace": namespace }) },
      // The token must not be sent to the target of a redirect.
      redirect: "error",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const text = await answer.text();
    if (text.length > MAX_ANSWER_BYTES) return { kind: "refused", why: "Vault's answer is too large" };
    if (answer.ok) return read(text);
    if (answer.status === 403) return { kind: "refused", why: "the Vault token may not read it" };
    if (answer.status === 404) return { kind: "refused", why: "Vault has no such secret" };
    const later = answer.status >= 500 || answer.status === 429 || answer.status === 412 || answer.status === 472;
    return { kind: later ? "later" : "refused", why: `answers with ${answer.status}` };
  } catch (error) {
    const { message, cause } = error as Error;
    return { kind: "later", why: `does not answer (${cause instanceof Error ? cause.message : message})` };
  }
}

function read(text: string): Answer {
  try {
    const { data } = JSON.parse(text) as { data?: { data?: unknown } };
    if (typeof data?.data === "object" && data.data !== null)
      return { kind: "found", data: data.data as Readonly<Record<string, unknown>> };
  } catch {
    // Invalid JSON is not an answer of a key-value store either.
  }
  return { kind: "refused", why: "the answer is not of a key-value store, version 2" };
}

function fieldOf(data: Readonly<Record<string, unknown>>, field: string, reference: string): string {
  const value = Object.hasOwn(data, field) ? data[field] : undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`${reference}: the secret has no text under "${field}"`);
}
