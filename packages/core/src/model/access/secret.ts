// Secrets of the servers: the key that signs job tokens. It is in the state so that every server has it, also after a
// restart; no API shows it.

import type { Instant } from "../../base/ids.ts";
import { type Problems, problemList } from "../checks.ts";

export type SecretName = (typeof SECRET_NAMES)[number];

/** `jobs` signs job tokens. */
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

/** Values per name; every token may have to be verified with each. */
export const MAX_EARLIER_SECRETS = 8;

/** As long as the HMAC, in base64url. */
const MIN_SECRET_LENGTH = 43;
const MAX_SECRET_LENGTH = 256;

const VALUE = new RegExp(`^[A-Za-z0-9_-]{${MIN_SECRET_LENGTH},${MAX_SECRET_LENGTH}}$`);

export function checkSecret(name: string, value: string): Problems {
  const problems = problemList();
  problems.unless((SECRET_NAMES as readonly string[]).includes(name), "name", "is not the name of a secret");
  problems.unless(VALUE.test(value), "value", "is not a secret");
  return problems;
}
