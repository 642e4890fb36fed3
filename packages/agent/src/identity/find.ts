// Finds an agent's identity, in this order: SPIRE when its socket exists; files when they are named; the servers when
// the agent has a token; else the token alone. A SPIRE agent without an entry for this process does not stop an agent
// that has another identity.

import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { type FileIdentity, type IdentityFiles, identityFromFiles } from "./files.ts";
import type { IdentitySource } from "./identity.ts";
import { identityFromSpire } from "./spire.ts";

export interface IdentityOptions {
  /** Socket of the SPIRE agent. */
  readonly spireSocket: string;
  /** How long SPIRE may take. Default: its start timeout. */
  readonly spireWithinMs?: number;
  readonly files: IdentityFiles | null;
  /** PEM file that verifies servers while there is no certificate. */
  readonly authority: string | null;
}

/** Gets a first certificate by other means; resolves to null when there is none. */
type First = () => Promise<IdentityFiles | null>;

/** Sources other than SPIRE and files. */
export interface OtherMeans {
  readonly first?: First;
  /** Whether the agent has a token to use without a certificate. */
  readonly token: boolean;
}

interface FoundIdentity {
  readonly source: IdentitySource;
  /** The same source when the servers may renew it: SPIRE renews its own. */
  readonly files: FileIdentity | null;
}

export async function findIdentity(
  options: IdentityOptions,
  log: Logger,
  { first, token }: OtherMeans,
): Promise<FoundIdentity | null> {
  let before: string | null = null;
  const onProblem = (problem: string | null) => {
    if (problem !== null && problem !== before)
      log.warn({ problem }, "TLS identity not renewed; the previous one stays in force");
    if (problem === null) log.info({}, "TLS identity renewed");
    before = problem;
  };
  let withoutSpire: Error | null = null;
  if (existsSync(options.spireSocket)) {
    try {
      return { source: await identityFromSpire(options.spireSocket, onProblem, options.spireWithinMs), files: null };
    } catch (error) {
      withoutSpire = error as Error;
      log.warn({ problem: withoutSpire.message }, "SPIRE identity unavailable; using other sources until restart");
    }
  }
  const named = options.files ?? (await first?.()) ?? null;
  if (named === null) {
    // Without any other identity the agent fails, so that its service manager restarts it until SPIRE answers.
    if (withoutSpire !== null && !token) throw withoutSpire;
    if (withoutSpire !== null) log.warn({}, "the agent has no certificate and uses its token");
    return null;
  }
  const files = identityFromFiles(named, onProblem);
  return { source: files, files };
}
