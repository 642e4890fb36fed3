// Who is told of ends and notices from outside: webhooks, each with the secret that signs what is sent. The
// secret comes from the file, from another file, or from the environment; without one the server does not start.

import { readFileSync } from "node:fs";
import type { EndState, Hook, TenantId } from "@lattice/core";
import { parseTenantId } from "@lattice/core";
import { z } from "zod";
import { section } from "./fields.ts";

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
type Environment = Readonly<Record<string, string | undefined>>;

export function notificationsProblems(
  { webhooks }: Parsed,
  environment: Environment,
): readonly { readonly path: string[]; readonly message: string }[] {
  const problems: { path: string[]; message: string }[] = [];
  webhooks.forEach((hook, i) => {
    const path = ["webhooks", String(i)];
    const secret = secretOf(hook, environment);
    if (secret === null)
      problems.push({
        path,
        message: "must have a secret, a secret_file that can be read, or a secret_env that is set",
      });
    else if (secret.length < LEAST_SECRET)
      problems.push({ path, message: `must have a secret of at least ${LEAST_SECRET} characters` });
    if (hook.tenant !== undefined && parseTenantId(hook.tenant) === null)
      problems.push({ path: [...path, "tenant"], message: "is not a name for a tenant" });
    if (webhooks.findIndex(({ name }) => name === hook.name) !== i)
      problems.push({ path: [...path, "name"], message: "is the name of another webhook" });
  });
  return problems;
}

export const completeNotifications = ({ webhooks }: Parsed, environment: Environment): NotificationsConfig => ({
  webhooks: webhooks.map((hook) => ({
    name: hook.name,
    url: hook.url,
    secret: secretOf(hook, environment) ?? "",
    tenant: (hook.tenant ?? null) as TenantId | null,
    states: hook.states,
    notices: hook.notices,
  })),
});

function secretOf({ secret, secret_file, secret_env }: Webhook, environment: Environment): string | null {
  if (secret !== undefined) return secret;
  if (secret_env !== undefined) return environment[secret_env] ?? null;
  if (secret_file === undefined) return null;
  try {
    return readFileSync(secret_file, "utf8").trim();
  } catch {
    return null;
  }
}
