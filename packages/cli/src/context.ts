// What a command gets: its settings, a client, and a place to print. Made once per run, from the
// flags of the command that was called.

import { userInfo } from "node:os";
import { createClient, type LatticeClient } from "@lattice/sdk";
import type { Command } from "commander";
import { globalFlags } from "./global-options.ts";
import { identify } from "./login/identity.ts";
import { createPrinter, type Printer } from "./output/printer.ts";
import { authorityOf } from "./settings/authority.ts";
import { readConfigFile } from "./settings/config-file.ts";
import { resolveSettings, type Settings } from "./settings/settings.ts";

export interface Context {
  readonly settings: Settings;
  readonly client: LatticeClient;
  readonly print: Printer;
}

export async function createContext(command: Command): Promise<Context> {
  const flags = globalFlags(command);
  const stated = resolveSettings({
    flags,
    env: process.env,
    file: await readConfigFile(flags.config, process.env),
    username: currentUser(),
    isTerminal: process.stdout.isTTY === true,
  });
  const { settings, token } = await identify(stated, process.env);
  const client = createClient({
    url: settings.url,
    user: settings.user,
    ca: await authorityOf(settings.ca),
    token,
  });
  const print = createPrinter(settings);
  print.debug(`server ${settings.url}, user ${settings.user}`);
  return { settings, client, print };
}

/** A user id without a name, as in some containers, has no entry to read. */
function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? "unknown";
  }
}
