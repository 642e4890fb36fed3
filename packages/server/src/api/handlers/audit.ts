// Queries and verifies the audit log. Records are read from the archive and the state in order of their numbers, one
// archive file at a time. A caller sees the records of the tenants in its reach.

import { create } from "@bufbuild/protobuf";
import {
  AUDIT_SCOPES,
  type AuditAction,
  type AuditKey,
  type AuditRecord,
  type BrokenChain,
  type CheckSignature,
  type LogIndex,
  type Origin,
  signedChain,
  type View,
  verifyKeys,
} from "@lattice/core";
import { auditKeyToProto, auditToProto, ProblemError, pb, timestampToMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { ReadFrom } from "../../state/audit/archive.ts";
import { signatureCheck } from "../../state/audit/signature.ts";
import { authorize, authorizeList, reaches, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { pageSize, readToken, tokenAfter } from "./page.ts";

export async function queryAudit(call: Call, request: pb.QueryAuditRequest): Promise<pb.QueryAuditResponse> {
  authorizeList(call.principal, "AccessService.QueryAudit");
  const wanted = filterOf(call, request);
  const size = pageSize(request.pageSize);
  const after = lastShown(request.pageToken);
  const shown: AuditRecord[] = [];
  let more = false;
  for await (const record of inOrder(call, startOf(request.newestFirst, after))) {
    if (!wanted(record)) continue;
    if (shown.length === size) {
      more = true;
      break;
    }
    shown.push(record);
  }
  const last = shown.at(-1);
  return create(pb.QueryAuditResponseSchema, {
    records: shown.map(auditToProto),
    nextPageToken: more && last !== undefined ? tokenAfter(String(last.n)) : "",
    ...keysIn(call.plane.view()),
    logIndex: String(call.plane.view().index),
  });
}

/** Signature checks and hashes of this many records block the event loop for a few milliseconds. */
const RECORDS_PER_TURN = 50;

export async function verifyAudit(call: Call, _request: pb.VerifyAuditRequest): Promise<pb.VerifyAuditResponse> {
  authorize(call.principal, "AccessService.VerifyAudit", UNOWNED);
  const view = call.plane.view();
  const keys = [...view.auditKeys()];
  const check = signatureCheck();
  const { problem, unendorsed } = verifyKeys(keys, check);
  const nothing = { broken: { n: 0, problem: problem ?? "" }, first: 0, records: 0, unsigned: 0 };
  const { broken, first, records, unsigned } = problem === null ? await verifyRecords(call, keys, check) : nothing;
  const { publicKey } = keysIn(view);
  return create(pb.VerifyAuditResponseSchema, {
    ok: broken === null,
    problem: broken?.problem ?? "",
    number: broken === null || broken.n === 0 ? "" : String(broken.n),
    records,
    publicKey,
    unsignedRecords: unsigned,
    unendorsedKeys: [...unendorsed],
    ...(records === 0 ? {} : { firstRecord: String(first), lastRecord: String(first + records - 1) }),
  });
}

async function verifyRecords(call: Call, keys: readonly AuditKey[], check: CheckSignature) {
  const chain = signedChain(null, keys, check);
  let [first, records, broken]: [number, number, BrokenChain | null] = [0, 0, null];
  for await (const record of inOrder(call, startOf(false, null))) {
    // The archive of a server that joined late, or has dropped old records, starts in the middle of the chain.
    if (records === 0 && record.n === 1 && record.prev !== "")
      broken = { n: 1, problem: "record 1 does not begin the chain" };
    if (records === 0) first = record.n;
    records += 1;
    broken ??= chain.add(record);
    if (broken !== null) break;
    if (records % RECORDS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return { broken, first, records, unsigned: chain.unsigned() };
}

export const auditKeysOf = (view: Pick<View, "auditKeys">): pb.AuditKey[] =>
  Array.from(view.auditKeys(), auditKeyToProto);

/** All keys, and the public key of the current one. */
function keysIn(view: Pick<View, "auditKeys">): { readonly keys: pb.AuditKey[]; readonly publicKey: string } {
  const keys = auditKeysOf(view);
  return { keys, publicKey: keys.at(-1)?.publicKey ?? "" };
}

/**
 * Records an action that has no command. Returns `null` without a record during an upgrade. With the origin of a
 * request, the answer is stored for a repeated request; if that is rejected, the record is written without it.
 */
export async function recordAudit(
  call: Call,
  action: string,
  details: Omit<AuditAction, "action">,
  origin: Origin = { user: call.principal.user, requestId: null, bodyHash: "" },
  answer?: string,
): Promise<LogIndex | null> {
  const command = { kind: "audit.record", action: { ...details, action } } as const;
  try {
    const kept = await call.plane.propose({ ...command, origin, ...(answer === undefined ? {} : { answer }) });
    if (kept.outcome.kind === "accepted") return kept.index;
    return (await call.plane.propose({ ...command, origin: { ...origin, requestId: null } })).index;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "upgrade_unfinished") return null;
    throw error;
  }
}

const startOf = (newestFirst: boolean, last: number | null): ReadFrom =>
  newestFirst ? { newestFirst, before: last ?? Number.POSITIVE_INFINITY } : { newestFirst: false, after: last ?? 0 };

async function* inOrder(call: Call, from: ReadFrom): AsyncGenerator<AuditRecord> {
  const live = Array.from(call.plane.view().audit());
  const first = live[0]?.n ?? Number.POSITIVE_INFINITY;
  if (from.newestFirst) {
    for (const record of live.toReversed()) if (record.n < from.before) yield record;
    yield* call.plane.audit.archived({ newestFirst: true, before: Math.min(first, from.before) });
    return;
  }
  for await (const record of call.plane.audit.archived(from)) {
    if (record.n >= first) break;
    yield record;
  }
  for (const record of live) if (record.n > from.after) yield record;
}

function filterOf(call: Call, request: pb.QueryAuditRequest): (record: AuditRecord) => boolean {
  const { user, allocation, node, tenant, dataPath, eventType, scope } = request;
  if (scope !== "" && !(AUDIT_SCOPES as readonly string[]).includes(scope))
    throw invalid("scope", `must be one of ${AUDIT_SCOPES.join(", ")}`);
  const [from, to] = [request.since ?? request.from, request.until ?? request.to];
  const since = from === undefined ? 0 : timestampToMs(from);
  const until = to === undefined ? Number.POSITIVE_INFINITY : timestampToMs(to);
  if (until < since) throw invalid("until", "is before since");
  const is = (wanted: string, found: string | undefined) => wanted === "" || wanted === found;
  const below = (path: string | undefined) =>
    dataPath === "" ||
    path === dataPath ||
    path?.startsWith(dataPath.endsWith("/") ? dataPath : `${dataPath}/`) === true;
  return (record) =>
    is(user, record.user) &&
    is(allocation, record.allocation) &&
    is(node, record.node) &&
    is(tenant, record.tenant) &&
    is(eventType, record.action) &&
    is(scope, record.scope) &&
    below(record.dataPath) &&
    record.at >= since &&
    record.at <= until &&
    reaches(call.principal, "AccessService.QueryAudit", { tenant: record.tenant ?? null, user: record.user });
}

function lastShown(token: string): number | null {
  const text = readToken(token);
  if (text === null) return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid("page_token", "is not a token of this list", "Pass next_page_token of the previous page unchanged.");
}
