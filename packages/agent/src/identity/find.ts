// Where an agent's identity comes from, in this order: SPIRE, when its socket is there; files, when they are named;
// nothing, and then a token has to do.

import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type FileIdentity, type IdentityFiles, identityFromFiles } from "./files.ts";
import type { IdentitySource } from "./identity.ts";
import { identityFromSpire } from "./spire.ts";

export interface IdentityOptions {
  /** Of SPIRE's agent. */
  readonly spireSocket: string;
  readonly files: IdentityFiles | null;
}

export interface FoundIdentity {
  readonly source: IdentitySource;
  /** The same source where servers may renew it: SPIRE renews its own. */
  readonly files: FileIdentity | null;
}

export async function findIdentity(options: IdentityOptions, log: Logger): Promise<FoundIdentity | null> {
  let before: string | null = null;
  const said = (problem: string | null) => {
    if (problem !== null && problem !== before)
      log.warn({ problem }, "the identity cannot be renewed; the last one stays");
    if (problem === null) log.info({}, "the identity is renewed");
    before = problem;
  };
  if (existsSync(options.spireSocket)) {
    try {
      return { source: await identityFromSpire(options.spireSocket, said), files: null };
    } catch (error) {
      if (options.files === null) throw error;
      log.warn({ problem: (error as Error).message }, "no identity from SPIRE; that of the files is used");
    }
  }
  if (options.files === null) return null;
  const files = identityFromFiles(options.files, said);
  return { source: files, files };
}
