// Submits, shows and cancels DAGs.

import { create } from "@bufbuild/protobuf";
import {
  type Dag,
  type DagMember,
  type DagNode,
  dagState,
  hasGroupEnded,
  isFinal,
  memberEnd,
  parseDagId,
} from "@lattice/core";
import {
  allocationStateToProto,
  dagGraph,
  dagStateFromProto,
  dagStateToProto,
  dagToProto,
  fieldError,
  groupStatus,
  type MemberStanding,
  membersToProto,
  ProblemError,
  pb,
} from "@lattice/wire";
import { checkText, invalid, unknownDag } from "../../base/problems.ts";
import { authorize, authorizeList, reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_REASON_LENGTH } from "../limits/limits.ts";
import { commit, originOf } from "./commit.ts";
import { choiceOf, completeSpec, shapeOf } from "./complete-spec.ts";
import { checkFeasible } from "./feasibility.ts";
import { pageOf } from "./page.ts";
import { elementsNow } from "./work.ts";

export async function submitDag(call: Call, request: pb.SubmitDagRequest): Promise<pb.SubmitDagResponse> {
  const { maxDagSize } = call.config.scheduling;
  // Checked before the members, so that a thousand equal problems are reported as one.
  if (request.allocations.length > maxDagSize) throw tooLarge(request.allocations.length, maxDagSize);
  const unmet: string[] = [];
  const members = request.allocations.map((written, n) => memberOf(call, { written, n, unmet }));
  for (const tenant of new Set(members.map(({ spec }) => spec.tenant))) {
    authorize(call.principal, "DagService.SubmitDag", { tenant, user: call.principal.user });
  }
  const { id, index } = await commit(call, {
    kind: "dag.submit",
    origin: originOf(call, pb.SubmitDagRequestSchema, request),
    name: request.name,
    members,
    createTenant: call.config.api.autoCreateTenants,
    maxMembers: maxDagSize,
  });
  const dag = findDag(call, id ?? "");
  return create(pb.SubmitDagResponseSchema, {
    id: dag.id,
    state: dagStateToProto(dagState(dag)),
    members: membersToProto(dag, standings(call, dag)),
    // Members routed to one queue for one reason share one warning.
    warnings: [
      ...new Set([
        ...call.warnings,
        ...unmet,
        ...request.allocations.flatMap((written, n) => chosenFor(written, members[n])),
      ]),
    ],
    logIndex: String(index),
  });
}

export async function getDag(call: Call, request: pb.GetDagRequest): Promise<pb.Dag> {
  const dag = findDag(call, request.id);
  authorize(call.principal, "DagService.GetDag", ownerOf(dag));
  return dagToProto(dag, call.plane.view().index, standings(call, dag));
}

export async function getDagGraph(call: Call, request: pb.GetDagGraphRequest): Promise<pb.DagGraph> {
  const dag = findDag(call, request.id);
  authorize(call.principal, "DagService.GetDagGraph", ownerOf(dag));
  return dagGraph(dag, standings(call, dag));
}

/** Newest first. */
export async function listDags(call: Call, request: pb.ListDagsRequest): Promise<pb.ListDagsResponse> {
  authorizeList(call.principal, "DagService.ListDags");
  const view = call.plane.view();
  const states = new Set(
    request.state.map((state) => {
      const word = dagStateFromProto(state);
      if (word === null) throw invalid("state", `${state} is not a state`);
      return word;
    }),
  );
  const newestFirst = [...view.dags()].reverse().map((dag) => ({ dag, id: ageOf(dag) }));
  const page = pageOf(newestFirst, request, ({ dag }) => {
    if (request.tenant !== "" && dag.tenant !== request.tenant) return false;
    if (request.user !== "" && dag.user !== request.user) return false;
    if (states.size > 0 && !states.has(dagState(dag))) return false;
    return reaches(call.principal, "DagService.ListDags", ownerOf(dag));
  });
  return create(pb.ListDagsResponseSchema, {
    dags: page.shown.map(({ dag }) => dagToProto(dag, view.index)),
    nextPageToken: page.next,
    total: page.total,
    logIndex: String(view.index),
  });
}

export async function cancelDag(call: Call, request: pb.CancelDagRequest): Promise<pb.CancelDagResponse> {
  const dag = findDag(call, request.id);
  authorize(call.principal, "DagService.CancelDag", ownerOf(dag));
  checkText("reason", request.reason, MAX_REASON_LENGTH);
  const { index } = await commit(call, {
    kind: "dag.cancel",
    origin: originOf(call, pb.CancelDagRequestSchema, request),
    id: dag.id,
    reason: request.reason,
  });
  const now = call.plane.view().dag(dag.id) ?? dag;
  return create(pb.CancelDagResponseSchema, {
    id: dag.id,
    state: dagStateToProto(dagState(now)),
    logIndex: String(index),
  });
}

/** Problems name the member by its index. */
function memberOf(
  call: Call,
  { written, n, unmet }: { readonly written: pb.AllocationSpec; readonly n: number; readonly unmet: string[] },
): DagMember {
  try {
    const spec = completeSpec(call, written);
    unmet.push(...checkFeasible(call, spec));
    return { name: written.name, spec, group: shapeOf(written) };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.fields.length === 0) throw error;
    const fields = error.problem.fields.map((problem) => ({
      ...problem,
      field: problem.field.replace(/^allocation\b/, `allocations[${n}]`),
    }));
    throw fieldError(fields, { code: error.problem.code });
  }
}

const chosenFor = (written: pb.AllocationSpec, member: DagMember | undefined): readonly string[] =>
  member === undefined ? [] : choiceOf(written, member.spec);

/** Returns a key that sorts the newest DAG first. */
const ageOf = ({ id }: Dag): string => String(10 ** 15 - Number(id.slice("dag-".length))).padStart(16, "0");

const ownerOf = (dag: Dag): Target => ({ tenant: dag.tenant, user: dag.user });

function findDag(call: Call, id: string): Dag {
  const parsed = parseDagId(id);
  const dag = parsed === null ? undefined : call.plane.view().dag(parsed);
  if (dag === undefined) throw unknownDag(id);
  return dag;
}

function standings(call: Call, dag: Dag): (member: DagNode, n: number) => MemberStanding {
  const view = call.plane.view();
  return ({ id }, n) => {
    const group = view.group(id);
    const record = view.allocation(id);
    const end = memberEnd(dag, n);
    const live = group?.phase.kind ?? record?.phase.kind ?? "pending";
    const skipped = end === "skipped";
    return {
      state: allocationStateToProto(end === null ? live : skipped ? "cancelled" : end),
      reason: skipped ? "dependency_failed" : reasonOf(record, group),
      group: group === undefined ? undefined : groupStatus(group, group.counts, elementsNow(view, id)),
    };
  };
}

function reasonOf(
  record: ReturnType<ReturnType<Call["plane"]["view"]>["allocation"]>,
  group: ReturnType<ReturnType<Call["plane"]["view"]>["group"]>,
): string {
  if (group !== undefined && hasGroupEnded(group.phase)) return group.cancelled?.reason ?? "";
  if (record?.phase.kind === "suspended") return record.phase.cause;
  if (record === undefined || !isFinal(record.phase)) return "";
  return "reason" in record.phase ? record.phase.reason : "";
}

const tooLarge = (count: number, limit: number): ProblemError =>
  fieldError([
    {
      field: "allocations",
      detail: `DAG exceeds maximum size (${count} allocations, limit: ${limit})`,
      hint: "Split the workflow into smaller DAGs or increase the limit (scheduling.max_dag_size).",
    },
  ]);
