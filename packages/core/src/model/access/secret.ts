// Secrets of the servers of a cluster: the key that signs the tokens of jobs. It is in the state so that every
// server has the same, and has it again after a restart; nothing that is read from outside shows it.

import type { Instant } from "../../base/ids.ts";
import { type Problems, problemList } from "../checks.ts";

export type SecretName = (typeof SECRET_NAMES)[number];

/** `jobs`: signs the tokens that jobs are given. */
const SECRET_NAMES = ["jobs"] as const;

export interface Secret {
  readonly name: SecretName;
  /** Letters, digits, - and _. */
  readonly value: string;
  /** Earlier values, newest first. Default: none. Their signatures are valid until they expire or are pushed out. */
  readonly earlier?: readonly EarlierSecret[];
}

export interface EarlierSecret {
  readonly value: string;
  readonly until: Instant;
}

/** Of one name; every token may have to be tried with each. */
export const MAX_EARLIER_SECRETS = 8;

/** As long as the hash that is made with it, in base64url. */
const LEAST_SECRET_LENGTH = 43;
const MAX_SECRET_LENGTH = 256;

const VALUE = new RegExp(`^[A-Za-z0-9_-]{${LEAST_SECRET_LENGTH},${MAX_SECRET_LENGTH}}$`);

export function checkSecret(name: string, value: string): Problems {
  const problems = problemList();
  problems.unless((SECRET_NAMES as readonly string[]).includes(name), "name", "is not the name of a secret");
  problems.unless(VALUE.test(value), "value", "is not a secret");
  return problems;
}
