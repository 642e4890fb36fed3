// Where an agent's identity comes from, in this order: SPIRE, when its socket is there; files, when they are named; the
// servers, for an agent that has a token; nothing, and then the token has to do. A SPIRE that answers with nothing, as
// where it serves other programs of the node, does not end an agent that can be known by other means.

import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type FileIdentity, type IdentityFiles, identityFromFiles } from "./files.ts";
import type { IdentitySource } from "./identity.ts";
import { identityFromSpire } from "./spire.ts";

export interface IdentityOptions {
  /** Of SPIRE's agent. */
  readonly spireSocket: string;
  /** How long SPIRE may take; absent: as long as it may take to start. */
  readonly spireWithinMs?: number;
  readonly files: IdentityFiles | null;
  /** PEM file that servers are checked by, where there is no certificate to show yet. */
  readonly authority: string | null;
}

/** Gets a first certificate by other means; null: there is none to be had. */
export type First = () => Promise<IdentityFiles | null>;

/** What there is beside SPIRE and files. */
export interface OtherMeans {
  readonly first?: First;
  /** Whether there is a token to show where no certificate is to be had. */
  readonly token: boolean;
}

export interface FoundIdentity {
  readonly source: IdentitySource;
  /** The same source where servers may renew it: SPIRE renews its own. */
  readonly files: FileIdentity | null;
}

export async function findIdentity(
  options: IdentityOptions,
  log: Logger,
  { first, token }: OtherMeans,
): Promise<FoundIdentity | null> {
  let before: string | null = null;
  const said = (problem: string | null) => {
    if (problem !== null && problem !== before)
      log.warn({ problem }, "the identity cannot be renewed; the last one stays");
    if (problem === null) log.info({}, "the identity is renewed");
    before = problem;
  };
  let withoutSpire: Error | null = null;
  if (existsSync(options.spireSocket)) {
    try {
      return { source: await identityFromSpire(options.spireSocket, said, options.spireWithinMs), files: null };
    } catch (error) {
      withoutSpire = error as Error;
      log.warn({ problem: withoutSpire.message }, "no identity from SPIRE; other means are tried until the next start");
    }
  }
  const named = options.files ?? (await first?.()) ?? null;
  if (named === null) {
    // Whoever has nothing else is better started again until SPIRE answers.
    if (withoutSpire !== null && !token) throw withoutSpire;
    if (withoutSpire !== null) log.warn({}, "this agent has no certificate; the token has to do");
    return null;
  }
  const files = identityFromFiles(named, said);
  return { source: files, files };
}
