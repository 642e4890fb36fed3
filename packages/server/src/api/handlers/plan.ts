// Answers what a submission would do. It is parsed and authorized like a submission, so that it fails in the same way;
// then the leader's scheduler evaluates it, and nothing is written.

import { create } from "@bufbuild/protobuf";
import { pb, timestampFromMs } from "@lattice/wire";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { originOf } from "./commit.ts";
import { choiceOf, completeSpec } from "./complete-spec.ts";
import { infeasibilityWarnings } from "./feasibility.ts";
import { suggestionToProto } from "./suggestion.ts";
import { shownTo } from "./visible.ts";

export async function plan(call: Call, request: pb.SubmitRequest): Promise<pb.PlanResponse> {
  const written = request.allocation ?? create(pb.AllocationSpecSchema);
  const spec = completeSpec(call, written);
  authorize(call.principal, "AllocationService.Plan", { tenant: spec.tenant, user: call.principal.user });
  // Refuses a request id that a submission would refuse.
  originOf(call, pb.SubmitRequestSchema, request);
  const newTenant = call.plane.view().tenant(spec.tenant) === undefined;
  const planned = await call.plane.askScheduler({ kind: "plan", spec, user: call.principal.user });
  return create(pb.PlanResponseSchema, {
    startsNow: planned.startsNow,
    ...(planned.expected === null ? {} : { estimatedStart: timestampFromMs(planned.expected) }),
    startReserved: planned.reserved,
    nodes: [...planned.nodes],
    backfilled: planned.backfilled,
    scores: planned.scores,
    causes: planned.causes.map(({ code, text }) => ({ code, text })),
    wouldPreempt: planned.wouldPreempt.map((id) => {
      const record = call.plane.view().allocation(id);
      const nodes = record !== undefined && "nodes" in record.phase ? record.phase.nodes.length : 0;
      const preemptionClass = record?.spec.lifecycle.preemptionClass ?? 0;
      return { ...shownTo(call, id), nodes, preemptionClass };
    }),
    suggestions: planned.sooner.map(suggestionToProto),
    warnings: [
      ...call.warnings,
      ...choiceOf(written, spec),
      ...infeasibilityWarnings(call, spec),
      ...(newTenant ? [`tenant "${spec.tenant}" does not exist and would be created`] : []),
    ],
    tenant: spec.tenant,
    vcluster: spec.vcluster,
    position: planned.position,
    queueLength: planned.length,
    logIndex: String(call.plane.view().index),
  });
}
