// Sessions: bounded allocations for a terminal. Creating one submits an allocation that only holds its nodes, or opens
// a session on a running allocation; deleting one ends the allocation that was created for it.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  checkSpec,
  isFinal,
  OWN_SESSION,
  parseAllocationId,
  parseSessionId,
  type Session,
  sessionId,
  type View,
} from "@lattice/core";
import { allocationStateToProto, fieldError, ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { invalid, unknownAllocation } from "../../base/problems.ts";
import { authorize, authorizeList, reaches } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { commit, originOf } from "./commit.ts";
import { choiceOf, completeSpec } from "./complete-spec.ts";
import { checkFeasible } from "./feasibility.ts";
import { ownerOnly } from "./owner-only.ts";
import { pageOf } from "./page.ts";
import { find, ownerOf } from "./work.ts";

/** Holds the nodes until the session ends or its walltime does. */
const HOLD = "exec sleep infinity";
/** The intent of a session that states none. */
const INTENT = "interactive";

export async function createSession(call: Call, request: pb.CreateSessionRequest): Promise<pb.CreateSessionResponse> {
  if (request.allocationId === "") return submitSession(call, request);
  if (request.allocation !== undefined)
    throw invalid("allocation", "cannot be combined with allocation_id", "Name one of the two.");
  const record = await find(call, request.allocationId);
  ownerOnly(call, "SessionService.CreateSession", record);
  const { id, index } = await commit(call, {
    kind: "session.open",
    origin: originOf(call, pb.CreateSessionRequestSchema, request),
    allocation: record.id,
  });
  return answer(call, record.id, id ?? "", index);
}

async function submitSession(call: Call, request: pb.CreateSessionRequest): Promise<pb.CreateSessionResponse> {
  const written = request.allocation ?? create(pb.AllocationSpecSchema);
  const spec = specOf(call, written);
  authorize(call.principal, "SessionService.CreateSession", { tenant: spec.tenant, user: call.principal.user });
  const unmet = checkFeasible(call, spec);
  const { id, index } = await commit(call, {
    kind: "allocation.submit",
    origin: originOf(call, pb.CreateSessionRequestSchema, request),
    spec,
    createTenant: call.config.api.autoCreateTenants,
  });
  const allocation = parseAllocationId(id ?? "");
  if (allocation === null) throw unknownAllocation(id ?? "");
  const opened = await answer(call, allocation, sessionId(allocation, OWN_SESSION), index);
  opened.warnings.push(...choiceOf(written, spec), ...unmet);
  return opened;
}

function specOf(call: Call, written: pb.AllocationSpec) {
  if (written.entrypoint !== "" || written.command.length > 0 || written.script !== "")
    throw invalid("allocation.entrypoint", "is not allowed for a session", "A session runs a terminal instead.");
  if ((written.lifecycle?.walltimeSeconds ?? 0) === 0)
    throw invalid("allocation.lifecycle.walltime_seconds", "must be given for a session", "For example: --walltime=1h");
  const complete = completeSpec(call, { ...written, entrypoint: HOLD }, INTENT);
  const policy = written.lifecycle?.requeuePolicy ?? pb.RequeuePolicy.UNSPECIFIED;
  const lifecycle = {
    ...complete.lifecycle,
    requeuePolicy: policy === pb.RequeuePolicy.UNSPECIFIED ? ("never" as const) : complete.lifecycle.requeuePolicy,
  };
  const spec = { ...complete, lifecycle, session: true, name: complete.name === "" ? "session" : complete.name };
  const problems = checkSpec(spec);
  if (problems.length > 0) throw fieldError(problems);
  return spec;
}

async function answer(call: Call, allocation: string, id: string, index: number): Promise<pb.CreateSessionResponse> {
  const record = await find(call, allocation);
  return create(pb.CreateSessionResponseSchema, {
    sessionId: id,
    allocationId: record.id,
    state: allocationStateToProto(record.phase.kind),
    warnings: [...call.warnings],
    logIndex: String(index),
  });
}

export async function getSession(call: Call, request: pb.GetSessionRequest): Promise<pb.Session> {
  const { record, session } = await findSession(call, request.id);
  authorize(call.principal, "SessionService.GetSession", ownerOf(record));
  const reasons = record.phase.kind === "pending" ? await call.plane.pendingReasons(record.id) : [];
  return shown(call, { record, session }, reasons);
}

export async function listSessions(call: Call, request: pb.ListSessionsRequest): Promise<pb.ListSessionsResponse> {
  authorizeList(call.principal, "SessionService.ListSessions");
  const page = pageOf(
    openSessions(call.plane.view()),
    request,
    ({ record }) =>
      (request.user === "" || record.user === request.user) &&
      (request.tenant === "" || record.spec.tenant === request.tenant) &&
      reaches(call.principal, "SessionService.ListSessions", ownerOf(record)),
  );
  return create(pb.ListSessionsResponseSchema, {
    sessions: page.shown.map(({ record, session }) =>
      shown(call, { record, session }, call.plane.knownReasons(record.id)),
    ),
    nextPageToken: page.next,
    total: page.total,
  });
}

export async function deleteSession(call: Call, request: pb.DeleteSessionRequest): Promise<pb.DeleteSessionResponse> {
  const { record, session } = await findSession(call, request.id);
  authorize(call.principal, "SessionService.DeleteSession", ownerOf(record));
  if (call.plane.view().allocation(record.id) === undefined) return deleted(call, request.id, record, 0);
  const { index } = await commit(call, {
    kind: "session.close",
    origin: originOf(call, pb.DeleteSessionRequestSchema, request),
    allocation: record.id,
    n: session.n,
    exitCode: request.exitCode,
    ...(request.failOnNonzeroExit ? { exitCounts: true } : null),
  });
  return deleted(call, request.id, call.plane.view().allocation(record.id) ?? record, index);
}

const deleted = (call: Call, id: string, record: Allocation, index: number): pb.DeleteSessionResponse =>
  create(pb.DeleteSessionResponseSchema, {
    id,
    allocationId: record.id,
    state: allocationStateToProto(record.phase.kind),
    logIndex: String(index === 0 ? call.plane.view().index : index),
  });

interface Found {
  readonly record: Allocation;
  readonly session: Session;
}

async function findSession(call: Call, id: string): Promise<Found> {
  const parsed = parseSessionId(id);
  const record = parsed === null ? null : await find(call, parsed.allocation).catch(() => null);
  const session = record === null ? undefined : record.sessions.find(({ n }) => n === parsed?.n);
  if (record !== null && session !== undefined) return { record, session };
  throw new ProblemError("unknown_session", { detail: `There is no session ${JSON.stringify(id.slice(0, 80))}.` });
}

/** Sorted by id, as pages require. */
function openSessions(view: View): (Found & { readonly id: string })[] {
  const found: (Found & { readonly id: string })[] = [];
  const collect = (records: Iterable<Allocation>) => {
    for (const record of records)
      if (!isFinal(record.phase))
        for (const session of record.sessions) found.push({ id: sessionId(record.id, session.n), record, session });
  };
  collect(view.placed());
  for (const { id } of view.vclusters()) collect(view.pending(id));
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function shown(
  call: Call,
  { record, session }: { readonly record: Allocation; readonly session: Session },
  reasons: readonly { readonly text: string }[],
): pb.Session {
  const { phase } = record;
  const waiting = phase.kind === "pending";
  const estimate = waiting ? call.plane.estimatedStart(record.id) : null;
  return create(pb.SessionSchema, {
    id: sessionId(record.id, session.n),
    allocationId: record.id,
    user: session.user,
    state: allocationStateToProto(phase.kind),
    createdAt: timestampFromMs(session.openedAt),
    ownsAllocation: record.spec.session === true && session.n === OWN_SESSION,
    nodes: "nodes" in phase ? [...phase.nodes] : [],
    pendingReasons: waiting ? reasons.map(({ text }) => text) : [],
    ...(estimate === null ? {} : { estimatedStart: timestampFromMs(estimate.at), startReserved: estimate.reserved }),
    reason: "reason" in phase ? phase.reason : "",
    message: "message" in phase ? phase.message : "",
  });
}
