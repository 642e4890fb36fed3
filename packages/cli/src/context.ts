// The context of a command: settings, client and printer. Created once per run from the flags of the
// command that is called.

import { userInfo } from "node:os";
import { createClient, type LatticeClient } from "@lattice/sdk";
import type { Command } from "commander";
import { globalFlags } from "./global-options.ts";
import { resolveIdentity } from "./login/identity.ts";
import { createPrinter, type Printer } from "./output/printer.ts";
import { readCaCertificate } from "./settings/ca-certificate.ts";
import { readConfigFile } from "./settings/config-file.ts";
import { type CliSettings, resolveSettings } from "./settings/settings.ts";

export interface LocalContext {
  readonly settings: CliSettings;
  readonly print: Printer;
}

export interface Context extends LocalContext {
  readonly client: LatticeClient;
}

/** For commands that contact no server: it needs neither an authority nor a login. */
export async function createLocalContext(command: Command): Promise<LocalContext> {
  const settings = await statedSettings(command);
  return { settings, print: createPrinter(settings) };
}

async function statedSettings(command: Command): Promise<CliSettings> {
  const flags = globalFlags(command);
  return resolveSettings({
    flags,
    env: process.env,
    file: await readConfigFile(flags.config, process.env),
    username: currentUser(),
    isTerminal: process.stdout.isTTY === true,
  });
}

export async function createContext(command: Command): Promise<Context> {
  const stated = await statedSettings(command);
  const { settings, token } = await resolveIdentity(stated, process.env);
  const client = createClient({
    url: settings.url,
    user: settings.user,
    ca: await readCaCertificate(settings.ca),
    token,
  });
  const print = createPrinter(settings);
  print.debug(`server ${settings.url}, user ${settings.user}`);
  return { settings, client, print };
}

/** `userInfo` throws for a user id without a passwd entry, as in some containers. */
function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? "unknown";
  }
}
