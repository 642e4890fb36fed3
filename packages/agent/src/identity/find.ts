// Where an agent's identity comes from, in this order: SPIRE, when its socket is there; files, when they are named;
// nothing, and then a token has to do.

import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type IdentityFiles, identityFromFiles } from "./files.ts";
import type { IdentitySource } from "./identity.ts";
import { identityFromSpire } from "./spire.ts";

export interface IdentityOptions {
  /** Of SPIRE's agent. */
  readonly spireSocket: string;
  readonly files: IdentityFiles | null;
}

export async function findIdentity(options: IdentityOptions, log: Logger): Promise<IdentitySource | null> {
  let before: string | null = null;
  const said = (problem: string | null) => {
    if (problem !== null && problem !== before)
      log.warn({ problem }, "the identity cannot be renewed; the last one stays");
    if (problem === null) log.info({}, "the identity is renewed");
    before = problem;
  };
  if (existsSync(options.spireSocket)) {
    try {
      return await identityFromSpire(options.spireSocket, said);
    } catch (error) {
      if (options.files === null) throw error;
      log.warn({ problem: (error as Error).message }, "no identity from SPIRE; that of the files is used");
    }
  }
  return options.files === null ? null : identityFromFiles(options.files, said);
}
