// Verifies signed audit records: the hash chain, and the signature of each record by the key of its range. Only the
// newest records may lack a signature, because the leader signs a record after it is committed. The signature check is
// passed in: the core has no cryptography.

import { type AuditKey, auditKeyId, endorsedText, isAuditSignature, signedText } from "./key.ts";
import { type AuditRecord, type BrokenChain, chainOf } from "./record.ts";

export type CheckSignature = (text: string, signature: string, publicKey: string) => boolean;

interface SignedChain {
  /** Returns what is wrong with the next record, or `null`. */
  add(record: AuditRecord): BrokenChain | null;
  /** Number of records at the end without a signature. */
  unsigned(): number;
}

/** `prev` is the hash of the record before the first one; `null` when it is unknown. */
export function signedChain(prev: string | null, keys: readonly AuditKey[], check: CheckSignature): SignedChain {
  const chain = chainOf(prev);
  const known = new Map(keys.map((key) => [key.id, key]));
  let unsigned = 0;
  return {
    add(record) {
      const broken = chain(record);
      if (broken !== null) return broken;
      if (record.signature === undefined) {
        unsigned += 1;
        return null;
      }
      const { n } = record;
      if (unsigned > 0) return { n: n - 1, problem: `record ${n - 1} is not signed` };
      const problem = badSignature(record, known.get(record.key ?? ""), check);
      return problem === null ? null : { n, problem };
    },
    unsigned: () => unsigned,
  };
}

function badSignature(record: AuditRecord, key: AuditKey | undefined, check: CheckSignature): string | null {
  const { n, hash, signature = "" } = record;
  if (key === undefined) return `record ${n} is signed with the key ${record.key}, which is not a key of the cluster`;
  if (n < key.first || n > (key.last ?? Number.POSITIVE_INFINITY))
    return `record ${n} is signed with the key ${key.id}, which signs ${rangeOf(key)}`;
  if (isAuditSignature(signature) && check(signedText(hash), signature, key.publicKey)) return null;
  return `record ${n} was not signed with the key ${key.id}`;
}

const rangeOf = ({ first, last }: AuditKey): string =>
  last === null ? `records from ${first} on` : `records ${first} to ${last}`;

interface VerifiedKeys {
  readonly problem: string | null;
  /** Keys without the signature of their predecessor, except the first: the successors of lost keys. */
  readonly unendorsed: readonly string[];
}

/** Verifies that each key has its predecessor's signature, and that the ranges follow one another. */
export function verifyKeys(keys: readonly AuditKey[], check: CheckSignature): VerifiedKeys {
  const unendorsed: string[] = [];
  let before: AuditKey | null = null;
  for (const key of keys) {
    const { id, publicKey, endorsement } = key;
    if (auditKeyId(publicKey) !== id) return { problem: `the key ${id} was changed`, unendorsed };
    if (before !== null) {
      const misplaced = before.last === null || key.first !== before.last + 1;
      if (misplaced) return { problem: `the key ${id} does not follow the one before it`, unendorsed };
      if (endorsement === null) unendorsed.push(id);
      else if (
        !isAuditSignature(endorsement) ||
        !check(endorsedText(before.id, publicKey), endorsement, before.publicKey)
      )
        return { problem: `the key ${id} was not endorsed by the key ${before.id}`, unendorsed };
    }
    before = key;
  }
  return { problem: null, unendorsed };
}
