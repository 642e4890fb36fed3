// The status of the scheduler for one vCluster or all: statistics of the leader's cycles.

import { create } from "@bufbuild/protobuf";
import { parseVClusterId, type VCluster } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { unknownVCluster } from "../../base/problems.ts";
import type { CycleFigures } from "../../lead/insight/question.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { inOrder } from "./page.ts";

export async function getSchedulerStatus(
  call: Call,
  request: pb.GetSchedulerStatusRequest,
): Promise<pb.SchedulerStatus> {
  authorize(call.principal, "AdminService.GetSchedulerStatus", UNOWNED);
  const wanted = request.vcluster === "" ? null : parseVClusterId(request.vcluster);
  const view = call.plane.view();
  const vclusters = inOrder(view.vclusters()).filter(({ id }) => request.vcluster === "" || id === wanted);
  if (vclusters.length === 0 && request.vcluster !== "") throw unknownVCluster(request.vcluster);
  const figures = new Map((await call.plane.askScheduler({ kind: "scheduler" })).map((one) => [one.vcluster, one]));
  const running = new Map<string, number>();
  for (const { spec } of view.placed()) running.set(spec.vcluster, (running.get(spec.vcluster) ?? 0) + 1);
  return create(pb.SchedulerStatusSchema, {
    leader: call.plane.logStatus().leader ?? "",
    vclusters: vclusters.map((vcluster) => ({
      ...aboutVCluster(vcluster),
      pending: view.pendingCount(vcluster.id),
      running: running.get(vcluster.id) ?? 0,
      ...aboutCycles(figures.get(vcluster.id)),
    })),
  });
}

const aboutVCluster = ({ id, scheduler, cycleInterval }: VCluster) => ({
  vcluster: id,
  scheduler,
  cycleIntervalSeconds: Math.round(cycleInterval / 1000),
});

/** Empty when no cycle has run under this leader. */
const aboutCycles = (figures: CycleFigures | undefined) =>
  figures === undefined
    ? {}
    : {
        cycles: figures.cycles,
        lastCycle: timestampFromMs(figures.lastAt),
        lastCycleSeconds: figures.lastSeconds,
        longestCycleSeconds: figures.longestSeconds,
        considered: figures.considered,
        reservations: figures.reservations,
        placements: figures.placements,
        placementsRefused: figures.refused,
        preemptions: figures.preemptions,
        waiting: { ...figures.waiting },
      };
