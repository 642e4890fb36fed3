// Converts audit records and keys to the contract and back. From an export, the hashed records can be rebuilt, and their
// chain and signatures verified.

import { create } from "@bufbuild/protobuf";
import {
  AUDIT_SCOPES,
  type AuditKey,
  type AuditRecord,
  type AuditScope,
  type BrokenChain,
  brokenChain,
  type CheckSignature,
  instant,
  logIndex,
  signedChain,
  unchecked,
  verifyKeys,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/access_pb.ts";
import { AuditKeySchema, AuditRecordSchema } from "../../gen/lattice/v1/access_pb.ts";
import { fromJson } from "../json/from-json.ts";
import { timestampFromMs, timestampToMs } from "../json/timestamp.ts";
import type { Json } from "../json/value.ts";

export const auditToProto = (record: AuditRecord): proto.AuditRecord =>
  create(AuditRecordSchema, {
    number: String(record.n),
    logIndex: String(record.index),
    at: timestampFromMs(record.at),
    user: record.user,
    eventType: record.action,
    scope: record.scope,
    detail: record.detail,
    tenant: record.tenant ?? "",
    allocationId: record.allocation ?? "",
    node: record.node ?? "",
    dataPath: record.dataPath ?? "",
    previousHash: record.prev,
    hash: record.hash,
    signature: record.signature ?? "",
    keyId: record.key ?? "",
  });

export const auditKeyToProto = (key: AuditKey): proto.AuditKey =>
  create(AuditKeySchema, {
    keyId: key.id,
    publicKey: `${PEM_BEGIN}${key.publicKey}${PEM_END}`,
    firstRecord: String(key.first),
    lastRecord: key.last === null ? "" : String(key.last),
    since: timestampFromMs(key.since),
    endorsement: key.endorsement ?? "",
  });

const PEM_BEGIN = "-----BEGIN PUBLIC KEY-----\n";
const PEM_END = "\n-----END PUBLIC KEY-----\n";

function auditKeyFromProto(key: proto.AuditKey): AuditKey {
  return {
    id: key.keyId,
    publicKey: key.publicKey.trim().replace(PEM_BEGIN, "").replace(PEM_END.trimEnd(), "").trim(),
    first: Number(key.firstRecord),
    last: key.lastRecord === "" ? null : Number(key.lastRecord),
    since: instant(key.since === undefined ? 0 : timestampToMs(key.since)),
    endorsement: key.endorsement === "" ? null : key.endorsement,
  };
}

/** Converts without validation: a wrong value shows up as a hash mismatch. */
function auditFromProto(record: proto.AuditRecord): AuditRecord {
  const scope = (AUDIT_SCOPES as readonly string[]).includes(record.scope) ? (record.scope as AuditScope) : "work";
  return {
    n: Number(record.number),
    index: logIndex(Number(record.logIndex)),
    at: instant(record.at === undefined ? 0 : timestampToMs(record.at)),
    user: unchecked.user(record.user),
    action: record.eventType,
    scope,
    detail: record.detail,
    ...(record.tenant === "" ? {} : { tenant: unchecked.tenant(record.tenant) }),
    ...(record.allocationId === "" ? {} : { allocation: unchecked.allocation(record.allocationId) }),
    ...(record.node === "" ? {} : { node: unchecked.node(record.node) }),
    ...(record.dataPath === "" ? {} : { dataPath: record.dataPath }),
    prev: record.previousHash,
    hash: record.hash,
    ...(record.keyId === "" ? {} : { key: record.keyId }),
    ...(record.signature === "" ? {} : { signature: record.signature }),
  };
}

/** Returns the first break of the hash chain of an export, or `null` if it is complete. Throws a ProblemError for invalid records. */
export function brokenExport(records: readonly Json[]): BrokenChain | null {
  const read = recordsOf(records);
  return brokenChain(read, firstHash(read));
}

interface ExportVerdict {
  readonly broken: BrokenChain | null;
  /** Number of records at the end that were exported before they were signed. */
  readonly unsigned: number;
  /** Ids of keys that begin without a signature of their predecessor. */
  readonly unendorsed: readonly string[];
}

/**
 * Verifies the chain and the signatures of an export. `trusted` are keys of an earlier export; `null` trusts the first
 * of `keys`. Throws a ProblemError for invalid records or keys.
 */
export function verifySignedExport(
  records: readonly Json[],
  keys: readonly Json[],
  trusted: readonly Json[] | null,
  check: CheckSignature,
): ExportVerdict {
  const known = keysOf(keys);
  const { problem, unendorsed } = verifyKeys(known, check);
  const doubt = problem ?? (trusted === null ? null : untrusted(known, keysOf(trusted), unendorsed));
  if (doubt !== null) return { broken: { n: 0, problem: doubt }, unsigned: 0, unendorsed };
  const read = recordsOf(records);
  const chain = signedChain(firstHash(read), known, check);
  for (const record of read) {
    const broken = chain.add(record);
    if (broken !== null) return { broken, unsigned: 0, unendorsed };
  }
  return { broken: null, unsigned: chain.unsigned(), unendorsed };
}

/** The trusted keys must be the first keys, and each later one must be endorsed. */
function untrusted(
  keys: readonly AuditKey[],
  trusted: readonly AuditKey[],
  unendorsed: readonly string[],
): string | null {
  const changed = trusted.find(({ publicKey }, i) => keys[i]?.publicKey !== publicKey);
  if (changed !== undefined) return `the key ${changed.id} is trusted, but the cluster has another one in its place`;
  const unknown = keys.slice(trusted.length).find(({ id }) => unendorsed.includes(id));
  return unknown === undefined ? null : `the key ${unknown.id} was not endorsed by the key before it`;
}

const recordsOf = (records: readonly Json[]): readonly AuditRecord[] =>
  records.map((json) => auditFromProto(fromJson(AuditRecordSchema, json)));

const keysOf = (keys: readonly Json[]): readonly AuditKey[] =>
  keys.map((json) => auditKeyFromProto(fromJson(AuditKeySchema, json)));

/** Record 1 follows none; what is before the first record of a part is unknown. */
const firstHash = (records: readonly AuditRecord[]): string | null => (records[0]?.n === 1 ? "" : null);
