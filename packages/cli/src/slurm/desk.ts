// What each Slurm command works with: its name, a client, the site's names, and where it writes. Made
// once per run. The name is Slurm's, since messages begin with it.

import { userInfo } from "node:os";
import { createClient, type LatticeClient } from "@lattice/sdk";
import { identify } from "../login/identity.ts";
import { authorityOf } from "../settings/authority.ts";
import { readConfigFile } from "../settings/config-file.ts";
import { NO_FLAGS, resolveSettings } from "../settings/settings.ts";
import { type Compat, readCompat } from "./compat-file.ts";

export interface Desk {
  readonly program: string;
  readonly client: LatticeClient;
  readonly compat: Compat;
  readonly user: string;
  /** Of the configuration; undefined: the server decides. */
  readonly tenant: string | undefined;
  readonly vcluster: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Milliseconds since 1970, when the command began. */
  readonly now: number;
}

export async function openDesk(program: string, env: NodeJS.ProcessEnv): Promise<Desk> {
  const file = await readConfigFile(undefined, env);
  const stated = resolveSettings({ flags: NO_FLAGS, env, file, username: currentUser(env), isTerminal: false });
  const { settings, token } = await identify(stated, env);
  return {
    program,
    client: createClient({ url: settings.url, user: settings.user, ca: await authorityOf(settings.ca), token }),
    compat: await readCompat(env),
    user: settings.user,
    tenant: settings.tenant,
    vcluster: settings.vcluster,
    env,
    cwd: process.cwd(),
    now: Date.now(),
  };
}

/** A user id without a name, as in some containers, has no entry to read. */
function currentUser(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? "unknown";
  }
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
export const complain = (line: string): void => void process.stderr.write(`${line}\n`);
