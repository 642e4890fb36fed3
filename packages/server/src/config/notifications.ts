// Who is told of ends and notices from outside: webhooks, each with the secret that signs what is sent. The secret is
// named by a reference, a file or a variable, never written out; without one the server does not start.

import { readFileSync } from "node:fs";
import type { EndState, Hook, TenantId } from "@lattice/core";
import { parseTenantId } from "@lattice/core";
import { z } from "zod";
import { section } from "./fields.ts";
import { type Environment, readSecret, type Secret } from "./secret.ts";

export interface WebhookConfig extends Hook {
  readonly url: string;
  readonly secret: string;
}

export interface NotificationsConfig {
  readonly webhooks: readonly WebhookConfig[];
}

const STATES = ["completed", "failed", "cancelled"] as const satisfies readonly EndState[];
/** Shorter ones can be guessed. */
const LEAST_SECRET = 16;

const webhook = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i, "must be letters, digits, dots and dashes"),
  url: z.url({ protocol: /^https?$/, error: "is not a URL, for example https://hooks.example.com/lattice" }),
  secret: z.string().min(1).optional(),
  secret_file: z.string().min(1).optional(),
  secret_env: z.string().min(1).optional(),
  tenant: z.string().optional(),
  states: z.array(z.enum(STATES, { error: `must be among ${STATES.join(", ")}` })).default([...STATES]),
  notices: z.boolean().default(true),
});

export const notificationsSection = section({ webhooks: z.array(webhook).max(32).default([]) });

type Parsed = z.output<typeof notificationsSection>;
type Webhook = Parsed["webhooks"][number];

export function notificationsProblems(
  { webhooks }: Parsed,
  environment: Environment,
): readonly { readonly path: string[]; readonly message: string }[] {
  const problems: { path: string[]; message: string }[] = [];
  webhooks.forEach((hook, i) => {
    const path = ["webhooks", String(i)];
    const secret = secretOf(hook, environment);
    if (secret?.kind === "missing") problems.push({ path: [...path, "secret"], message: secret.problem });
    else if (secret === null)
      problems.push({
        path,
        message: "must have a secret, a secret_file that can be read, or a secret_env that is set",
      });
    else if (secret.value.length < LEAST_SECRET)
      problems.push({ path, message: `must have a secret of at least ${LEAST_SECRET} characters` });
    if (hook.tenant !== undefined && parseTenantId(hook.tenant) === null)
      problems.push({ path: [...path, "tenant"], message: "is not a name for a tenant" });
    if (webhooks.findIndex(({ name }) => name === hook.name) !== i)
      problems.push({ path: [...path, "name"], message: "is the name of another webhook" });
  });
  return problems;
}

export const completeNotifications = ({ webhooks }: Parsed, environment: Environment): NotificationsConfig => ({
  webhooks: webhooks.map((hook) => {
    const secret = secretOf(hook, environment);
    return {
      name: hook.name,
      url: hook.url,
      secret: secret?.kind === "found" ? secret.value : "",
      tenant: (hook.tenant ?? null) as TenantId | null,
      states: hook.states,
      notices: hook.notices,
    };
  }),
});

/** Null: none is named, or not to be had. */
function secretOf({ secret, secret_file, secret_env }: Webhook, environment: Environment): Secret | null {
  if (secret !== undefined) return readSecret(secret, environment);
  if (secret_env !== undefined) return foundOrNull(environment[secret_env]);
  if (secret_file === undefined) return null;
  try {
    return foundOrNull(readFileSync(secret_file, "utf8").trim());
  } catch {
    return null;
  }
}

const foundOrNull = (value: string | undefined): Secret | null =>
  value === undefined ? null : { kind: "found", value };
