// The log of who did what. Records are read from the archive and from the state, in order of their numbers, beginning where
// the page before ended; however many there are, one file of them is in memory. Each leaves with its signature. A reader sees the records of the tenants within its reach.

import { create } from "@bufbuild/protobuf";
import {
  AUDIT_SCOPES,
  type AuditAction,
  type AuditRecord,
  type BrokenChain,
  chainOf,
  type LogIndex,
  type Origin,
} from "@lattice/core";
import { auditToProto, ProblemError, pb, timestampToMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { ReadFrom } from "../../state/audit/archive.ts";
import { authorize, authorizeList, NOBODYS, reaches } from "../access/authorize.ts";
import type { Call } from "../call.ts";
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
  const { audit } = call.plane;
  const last = shown.at(-1);
  return create(pb.QueryAuditResponseSchema, {
    records: shown.map((record) => auditToProto(record, audit.sign(record.hash))),
    nextPageToken: more && last !== undefined ? tokenAfter(String(last.n)) : "",
    publicKey: audit.publicKey,
    logIndex: String(call.plane.view().index),
  });
}

export async function verifyAudit(call: Call, _request: pb.VerifyAuditRequest): Promise<pb.VerifyAuditResponse> {
  authorize(call.principal, "AccessService.VerifyAudit", NOBODYS);
  const chain = chainOf(null);
  let [records, broken]: [number, BrokenChain | null] = [0, null];
  for await (const record of inOrder(call, startOf(false, null))) {
    // A server that joined late, or has forgotten the oldest, begins in the middle.
    if (records === 0 && record.n === 1 && record.prev !== "")
      broken = { n: 1, problem: "record 1 does not begin the chain" };
    records += 1;
    broken ??= chain(record);
    if (broken !== null) break;
  }
  return create(pb.VerifyAuditResponseSchema, {
    ok: broken === null,
    problem: broken?.problem ?? "",
    number: broken === null ? "" : String(broken.n),
    records,
    publicKey: call.plane.audit.publicKey,
  });
}

/**
 * Records an action that has no command. A cluster in the middle of an upgrade continues without the record. With a request's
 * origin, the answer is kept for a repeated request; where that is impossible, the record is written without it.
 */
export async function writeDown(
  call: Call,
  action: string,
  details: Omit<AuditAction, "action">,
  origin: Origin = { user: call.principal.user, requestId: null, bodyHash: "" },
  answer?: string,
): Promise<LogIndex | null> {
  const said = { kind: "audit.record", action: { ...details, action } } as const;
  try {
    const kept = await call.plane.propose({ ...said, origin, ...(answer === undefined ? {} : { answer }) });
    if (kept.outcome.kind === "accepted") return kept.index;
    return (await call.plane.propose({ ...said, origin: { ...origin, requestId: null } })).index;
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
  const is = (asked: string, found: string | undefined) => asked === "" || asked === found;
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
  throw invalid("page_token", "is not a token of this list", "Pass next_page_token of the page before unchanged.");
}
