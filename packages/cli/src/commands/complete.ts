// `lattice __complete KIND`: what the completion scripts may offer, one name on a line, newest allocations first. A
// shell waits for it at every Tab, so it asks once, briefly, and says nothing when there is no answer.

import { createClient, type LatticeClient } from "@lattice/sdk";
import { Argument, type Command } from "commander";
import { createContext } from "../context.ts";
import { currentToken } from "../login/current-token.ts";
import { authorityOf } from "../settings/authority.ts";
import { VALUE_KINDS, type ValueKind } from "./completion/kinds.ts";

/** Longer than this nobody waits for a Tab. */
const PATIENCE_MS = 1_500;
/** More than fit on a screen. */
const OFFERED = 200;

/** bash takes what it is offered for words of its own and would carry out what stands in `$(...)`. */
const OFFERABLE = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

const options = { timeoutMs: PATIENCE_MS };

type Ask = (client: LatticeClient, user: string) => Promise<readonly string[]>;

const ASK: Readonly<Record<ValueKind, Ask>> = {
  allocations: async (client, user) =>
    (await client.list({ user, page_size: OFFERED }, options)).allocations?.map(({ id }) => id) ?? [],
  nodes: async (client) => (await client.nodes.list({ page_size: OFFERED }, options)).nodes?.map(({ id }) => id) ?? [],
  vclusters: async (client) => (await client.vclusters.list({}, options)).vclusters?.map(({ id }) => id) ?? [],
  tenants: async (client) => (await client.tenants.list({}, options)).tenants?.map(({ id }) => id) ?? [],
  images: async (client) => (await client.images.list({}, options)).images?.map(({ name }) => name ?? "") ?? [],
  dags: async (client, user) =>
    (await client.dags.list({ user, page_size: OFFERED }, options)).dags?.map(({ id }) => id) ?? [],
  services: async (client) => (await client.services.list(options)).services?.map(({ name }) => name) ?? [],
  sessions: async (client, user) =>
    (await client.sessions.list({ user, page_size: OFFERED }, options)).sessions?.map(({ id }) => id) ?? [],
  settings: async (client) => (await client.config.get(undefined, options)).settings?.map(({ key }) => key) ?? [],
};

export function define(command: Command): void {
  command.addArgument(new Argument("<kind>", "of what").choices(VALUE_KINDS)).action(async (kind: ValueKind) => {
    const { settings, print } = await createContext(command);
    const token = await currentToken(process.env, settings.url);
    const ca = await authorityOf(settings.ca);
    const client = createClient({ url: settings.url, user: settings.user, ca, token, retry: { retries: 0 } });
    const names = await ASK[kind](client, settings.user).catch(() => []);
    print.lines([...new Set(names)].filter((name) => OFFERABLE.test(name)));
  });
}
