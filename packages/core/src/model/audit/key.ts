// The keys that sign audit records: one for the whole cluster at a time, each for a range of records. The state has the
// public keys only, also those of earlier keys, so that old records can be verified. The private key of the current one
// is in a file of every member.

import type { Instant } from "../../base/ids.ts";
import { sha256 } from "../../base/sha256.ts";

export interface AuditKey {
  readonly id: string;
  /** Ed25519, as SubjectPublicKeyInfo in base64: the text between the first and the last line of a PEM file. */
  readonly publicKey: string;
  /** The first record that it signs. */
  readonly first: number;
  /** The last one; `null` for the current key. */
  readonly last: number | null;
  readonly since: Instant;
  /** Signature of the previous key over `endorsedText`; `null` for the first key and for the successor of a lost key. */
  readonly endorsement: string | null;
}

/** Every answer about audit records names all keys. A yearly rotation uses as many in centuries. */
export const MAX_AUDIT_KEYS = 256;

/** 128 bits of the hash of the public key, in hexadecimal. */
const ID_LENGTH = 32;
/** The algorithm identifier of Ed25519, then 32 bytes. */
const PUBLIC_KEY = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/;
/** 64 bytes, in their only canonical text. */
const SIGNATURE = /^[A-Za-z0-9+/]{85}[AQgw]==$/;

export const isAuditPublicKey = (text: string): boolean => PUBLIC_KEY.test(text);

export const isAuditSignature = (text: string): boolean => SIGNATURE.test(text);

export const auditKeyId = (publicKey: string): string => sha256(publicKey).slice(0, ID_LENGTH);

/** The signed text of a record. Its words keep a signature from counting for anything else. */
export const signedText = (hash: string): string => `lattice audit record ${hash}`;

/** The text that a key signs to name its successor. */
export const endorsedText = (previous: string, publicKey: string): string =>
  `lattice audit key ${publicKey} follows ${previous}`;
