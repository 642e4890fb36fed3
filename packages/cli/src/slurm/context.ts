// The context of a Slurm command: its name, which starts every message, a client, the site's names and the
// environment. Created once per run.

import { userInfo } from "node:os";
import { createClient, type LatticeClient } from "@lattice/sdk";
import { resolveIdentity } from "../login/identity.ts";
import { readCaCertificate } from "../settings/ca-certificate.ts";
import { type Compat, readCompat } from "../settings/compat-file.ts";
import { readConfigFile } from "../settings/config-file.ts";
import { NO_FLAGS, resolveSettings } from "../settings/settings.ts";

export interface SlurmContext {
  readonly program: string;
  readonly client: LatticeClient;
  readonly compat: Compat;
  readonly user: string;
  /** From the settings; `undefined` leaves the choice to the server. */
  readonly tenant: string | undefined;
  readonly vcluster: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Start of the command, in milliseconds since 1970. */
  readonly now: number;
}

export async function createSlurmContext(program: string, env: NodeJS.ProcessEnv): Promise<SlurmContext> {
  const file = await readConfigFile(undefined, env);
  const stated = resolveSettings({ flags: NO_FLAGS, env, file, username: currentUser(env), isTerminal: false });
  const { settings, token } = await resolveIdentity(stated, env);
  return {
    program,
    client: createClient({ url: settings.url, user: settings.user, ca: await readCaCertificate(settings.ca), token }),
    compat: await readCompat(env),
    user: settings.user,
    tenant: settings.tenant,
    vcluster: settings.vcluster,
    env,
    cwd: process.cwd(),
    now: Date.now(),
  };
}

/** `userInfo` throws for a user id without a passwd entry, as in some containers. */
function currentUser(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? "unknown";
  }
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
export const printError = (line: string): void => void process.stderr.write(`${line}\n`);
