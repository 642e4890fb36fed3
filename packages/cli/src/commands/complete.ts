// `lattice __complete KIND`: what the completion scripts may offer, one name on a line, newest allocations first. A
// shell waits for it at every Tab, so it asks once, briefly, and says nothing when there is no answer.

import { createClient } from "@lattice/sdk";
import { Argument, type Command } from "commander";
import { createContext } from "../context.ts";
import { currentToken } from "../login/current-token.ts";
import { authorityOf } from "../settings/authority.ts";
import { ASK } from "./completion/ask.ts";
import { VALUE_KINDS, type ValueKind } from "./completion/kinds.ts";

/** bash takes what it is offered for words of its own and would carry out what stands in `$(...)`. */
const OFFERABLE = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

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
