// Converts audit records to the contract and back. From an export, the hashed records can be rebuilt and the hash chain
// verified.

import { create } from "@bufbuild/protobuf";
import {
  AUDIT_SCOPES,
  type AuditRecord,
  type AuditScope,
  type BrokenChain,
  brokenChain,
  instant,
  logIndex,
  unchecked,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/access_pb.ts";
import { AuditRecordSchema } from "../../gen/lattice/v1/access_pb.ts";
import { fromJson } from "../json/from-json.ts";
import { timestampFromMs, timestampToMs } from "../json/timestamp.ts";
import type { Json } from "../json/value.ts";

export const auditToProto = (record: AuditRecord, signature: string): proto.AuditRecord =>
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
    signature,
  });

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
  };
}

/** Returns the first break of the hash chain of an export, or `null` if it is complete. Throws a ProblemError for invalid records. */
export function brokenExport(records: readonly Json[]): BrokenChain | null {
  const read = records.map((json) => auditFromProto(fromJson(AuditRecordSchema, json)));
  return brokenChain(read, read[0]?.n === 1 ? "" : null);
}
