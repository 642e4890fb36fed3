// What the servers of a cluster keep from everybody else: the key that signs the tokens of jobs. It is in the state so that every
// server has the same, and has it again after a restart; nothing that is read from outside shows it.

export type SecretName = (typeof SECRET_NAMES)[number];

/** `jobs`: signs the tokens that jobs are given. */
export const SECRET_NAMES = ["jobs"] as const;

export interface Secret {
  readonly name: SecretName;
  /** Letters, digits, - and _. */
  readonly value: string;
}

/** As long as the hash that is made with it, in base64url. */
export const LEAST_SECRET_LENGTH = 43;
export const MAX_SECRET_LENGTH = 256;
