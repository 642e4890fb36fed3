// What the servers of a cluster keep from everybody else: the key that signs the tokens of jobs. It is in the state so that every
// server has the same, and has it again after a restart; nothing that is read from outside shows it.

import type { Instant } from "../ids.ts";

export type SecretName = (typeof SECRET_NAMES)[number];

/** `jobs`: signs the tokens that jobs are given. */
export const SECRET_NAMES = ["jobs"] as const;

export interface Secret {
  readonly name: SecretName;
  /** Letters, digits, - and _. */
  readonly value: string;
  /** Newest first; absent: it was never rotated. What they have signed is good until their end, or until they are pushed out. */
  readonly earlier?: readonly EarlierSecret[];
}

export interface EarlierSecret {
  readonly value: string;
  readonly until: Instant;
}

/** Of one name; every token may have to be tried with each. */
export const MAX_EARLIER_SECRETS = 8;

/** As long as the hash that is made with it, in base64url. */
export const LEAST_SECRET_LENGTH = 43;
export const MAX_SECRET_LENGTH = 256;
