// One record of the audit log: user, action, subject, time, and the hash of the previous record. The hash covers the
// whole record, so that a changed, missing or moved record breaks the chain. The leader signs the hash afterwards.

import { canonical } from "../../base/canonical.ts";
import type { AllocationId, Instant, LogIndex, NodeId, TenantId, UserName } from "../../base/ids.ts";
import { sha256 } from "../../base/sha256.ts";

/** The subject of an action, for filters. */
export const AUDIT_SCOPES = ["access", "tenants", "nodes", "work", "cluster", "sensitive"] as const;
export type AuditScope = (typeof AUDIT_SCOPES)[number];

export interface AuditRecord {
  /** From 1, without gaps. */
  readonly n: number;
  /** The index of its log entry. */
  readonly index: LogIndex;
  readonly at: Instant;
  readonly user: UserName;
  /** For example "grant.add". */
  readonly action: string;
  readonly scope: AuditScope;
  /** Text for people. */
  readonly detail: string;
  readonly tenant?: TenantId;
  readonly allocation?: AllocationId;
  readonly node?: NodeId;
  readonly dataPath?: string;
  /** Hash of the previous record; "" for the first. */
  readonly prev: string;
  readonly hash: string;
  /** The id of the key of the signature. */
  readonly key?: string;
  /** Over `signedText(hash)`, base64; absent until the leader has signed the record. */
  readonly signature?: string;
}

export type AuditBody = Omit<AuditRecord, "hash" | "key" | "signature">;

export const auditHash = (body: AuditBody): string => sha256(canonical(body));

/** Returns whether the record has the hash of its content. */
export function isIntact({ hash, key: _key, signature: _signature, ...body }: AuditRecord): boolean {
  return auditHash(body) === hash;
}

export interface BrokenChain {
  readonly n: number;
  readonly problem: string;
}

/**
 * Returns `null` when every line has its hash and follows the one before it. `prev` is the hash of the line before
 * the first one; `null` when it is unknown, as in a part of the log.
 */
export function brokenChain(records: Iterable<AuditRecord>, prev: string | null): BrokenChain | null {
  const next = chainOf(prev);
  for (const record of records) {
    const broken = next(record);
    if (broken !== null) return broken;
  }
  return null;
}

/** The same check, one record at a time, for a log that does not fit in memory. */
export function chainOf(prev: string | null): (record: AuditRecord) => BrokenChain | null {
  let before = prev;
  let last: number | null = null;
  return (record) => {
    const { n, hash } = record;
    if (last !== null && n !== last + 1) return { n, problem: `record ${last + 1} is missing or out of order` };
    if (before !== null && record.prev !== before)
      return { n, problem: `record ${n} does not follow the one before it` };
    if (!isIntact(record)) return { n, problem: `record ${n} was changed` };
    before = hash;
    last = n;
    return null;
  };
}
