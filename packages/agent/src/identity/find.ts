// Where an agent's identity comes from, in this order: SPIRE, when its socket is there; files, when they are named; the
// servers, for an agent that has a token; nothing, and then the token has to do.

import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type FileIdentity, type IdentityFiles, identityFromFiles } from "./files.ts";
import type { IdentitySource } from "./identity.ts";
import { identityFromSpire } from "./spire.ts";

export interface IdentityOptions {
  /** Of SPIRE's agent. */
  readonly spireSocket: string;
  readonly files: IdentityFiles | null;
  /** PEM file that servers are checked by, where there is no certificate to show yet. */
  readonly authority: string | null;
}

/** Gets a first certificate by other means; null: there is none to be had. */
export type First = () => Promise<IdentityFiles | null>;

export interface FoundIdentity {
  readonly source: IdentitySource;
  /** The same source where servers may renew it: SPIRE renews its own. */
  readonly files: FileIdentity | null;
}

export async function findIdentity(
  options: IdentityOptions,
  log: Logger,
  first: First = async () => null,
): Promise<FoundIdentity | null> {
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
  const named = options.files ?? (await first());
  if (named === null) return null;
  const files = identityFromFiles(named, said);
  return { source: files, files };
}
