// The secret that signs the messages to a webhook: a reference, a file or a variable, never literal.

import { readFileSync } from "node:fs";
import { type EnvironmentVariables, readSecret, type SecretResult } from "./secret.ts";
import type { Settings } from "./table/index.ts";

type Webhook = Settings["notifications"]["webhooks"][number];

/** Returns `null` when the webhook names no secret, or names a file or variable without one. */
export function webhookSecret(
  { secret, secret_file, secret_env }: Webhook,
  environment: EnvironmentVariables,
): SecretResult | null {
  if (secret !== undefined) return readSecret(secret, environment);
  if (secret_env !== undefined) return foundOrNull(environment[secret_env]);
  if (secret_file === undefined) return null;
  try {
    return foundOrNull(readFileSync(secret_file, "utf8").trim());
  } catch {
    return null;
  }
}

const foundOrNull = (value: string | undefined): SecretResult | null =>
  value === undefined ? null : { kind: "found", value };
