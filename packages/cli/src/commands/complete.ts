// `lattice __complete KIND`: values for the completion scripts, one per line, newest allocations first. The shell waits
// for it at every Tab, so it makes one short request and prints nothing when that fails.

import { createClient } from "@lattice/sdk";
import { Argument, type Command } from "commander";
import { createContext } from "../context.ts";
import { currentToken } from "../login/current-token.ts";
import { readCaCertificate } from "../settings/ca-certificate.ts";
import { VALUE_KINDS, type ValueKind } from "./completion/kinds.ts";
import { VALUE_SOURCES } from "./completion/value-sources.ts";

/** bash expands completion words and would run a `$(...)` in them, so only harmless characters pass. */
const SAFE_WORD = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

export function define(command: Command): void {
  command.addArgument(new Argument("<kind>", "kind of value").choices(VALUE_KINDS)).action(async (kind: ValueKind) => {
    const { settings, print } = await createContext(command);
    const token = await currentToken(process.env, settings.url);
    const ca = await readCaCertificate(settings.ca);
    const client = createClient({ url: settings.url, user: settings.user, ca, token, retry: { retries: 0 } });
    const names = await VALUE_SOURCES[kind](client, settings.user).catch(() => []);
    print.lines([...new Set(names)].filter((name) => SAFE_WORD.test(name)));
  });
}
