// Certificate, key and authority from files (`--bootstrap-cert`, `-key`, `-ca`), which are looked at from time to time.
// Files that do not belong together, as in the middle of a renewal, leave the last good ones in force.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Identity, IdentitySource } from "./identity.ts";

export interface IdentityFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const LOOK_EVERY_MS = 10_000;

/** Throws when there is nothing usable to begin with. */
export function identityFromFiles(
  files: IdentityFiles,
  said: (problem: string | null) => void,
  everyMs = LOOK_EVERY_MS,
): IdentitySource {
  let identity = read(files);
  const listeners: ((identity: Identity) => void)[] = [];
  const timer = setInterval(() => {
    try {
      const fresh = read(files);
      if (fresh.cert.equals(identity.cert) && fresh.ca.equals(identity.ca)) return;
      identity = fresh;
      for (const taken of listeners) taken(identity);
      said(null);
    } catch (error) {
      said((error as Error).message);
    }
  }, everyMs);
  timer.unref();
  return {
    current: () => identity,
    onChange: (taken) => void listeners.push(taken),
    close: () => clearInterval(timer),
  };
}

function read(files: IdentityFiles): Identity {
  const identity = { cert: readFileSync(files.cert), key: readFileSync(files.key), ca: readFileSync(files.ca) };
  if (!new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(identity.key)))
    throw new Error(`${files.key} is not the key of ${files.cert}`);
  return identity;
}
