// Certificate, key and authority from files (`--bootstrap-cert`, `-key`, `-ca`), reread periodically, and the pair
// renewed by the servers. Files that do not match each other, as during a renewal, leave the last valid ones in use.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IdentitySource, TlsIdentity } from "./identity.ts";
import { keep, keptAfter, type Pair } from "./kept.ts";

export interface IdentityFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  /** File with the renewed pair. Default: none. */
  readonly kept?: string;
}

export interface FileIdentity extends IdentitySource {
  /** Rereads the files now. */
  look(): void;
  /** Uses this pair, which succeeds the one in the files, also after a restart. */
  take(pair: Pair): void;
}

const LOOK_EVERY_MS = 10_000;

/** Throws without a usable identity at start. */
export function identityFromFiles(
  files: IdentityFiles,
  onProblem: (problem: string | null) => void,
  everyMs = LOOK_EVERY_MS,
): FileIdentity {
  let identity = read(files);
  const listeners: ((identity: TlsIdentity) => void)[] = [];
  const look = (): void => {
    try {
      const fresh = read(files);
      if (fresh.cert.equals(identity.cert) && fresh.ca.equals(identity.ca)) return;
      identity = fresh;
      for (const taken of listeners) taken(identity);
      onProblem(null);
    } catch (error) {
      onProblem((error as Error).message);
    }
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    current: () => identity,
    onChange: (taken) => void listeners.push(taken),
    look,
    take(pair) {
      if (files.kept === undefined) throw new Error("there is no place to keep it");
      keep(files.kept, readGiven(files), pair);
      look();
    },
    close: () => clearInterval(timer),
  };
}

function read(files: IdentityFiles): TlsIdentity {
  const given = readGiven(files);
  return files.kept === undefined ? given : keptAfter(files.kept, given, Date.now());
}

function readGiven(files: IdentityFiles): TlsIdentity {
  const identity = { cert: readFileSync(files.cert), key: readFileSync(files.key), ca: readFileSync(files.ca) };
  if (!new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(identity.key)))
    throw new Error(`${files.key} is not the key of ${files.cert}`);
  return identity;
}
