// Metrics of a server by component, current and recorded. The scheduler runs only on the leader, so its metrics come from
// the leader; all others are those of the answering server.

import { create } from "@bufbuild/protobuf";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { COMPONENTS, type MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded, RecordedSeries } from "../../base/observe/recorder.ts";
import { invalid } from "../../base/problems.ts";
import { authorize, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";

/** Longer than a server keeps points; `since` in the answer is the start of the record. */
const MAX_SECONDS = 7 * 86_400;

export async function getServerMetrics(call: Call, request: pb.GetServerMetricsRequest): Promise<pb.ServerMetrics> {
  authorize(call.principal, "AdminService.GetServerMetrics", UNOWNED);
  const { component, durationSeconds } = request;
  if (component !== "" && !isComponent(component)) {
    throw invalid("component", `must be one of ${Object.keys(COMPONENTS).join(", ")}`);
  }
  if (durationSeconds > MAX_SECONDS) throw invalid("duration_seconds", `must be at most ${MAX_SECONDS}`);
  const wanted = component === "" ? null : component;
  const after = durationSeconds === 0 ? null : call.plane.now() - durationSeconds * 1000;
  if (wanted === "scheduler" && !call.plane.logStatus().isLeader)
    throw new ProblemError("not_leader", { detail: "No server leads at the moment, so the scheduler has no metrics." });
  return toProto(component, await call.plane.recorded(wanted, after));
}

const isComponent = (text: string): text is MetricsComponent => Object.hasOwn(COMPONENTS, text);

const toProto = (component: string, { server, at, startedAt, since, series }: Recorded): pb.ServerMetrics =>
  create(pb.ServerMetricsSchema, {
    component,
    server,
    at: timestampFromMs(at),
    startedAt: timestampFromMs(startedAt),
    since: timestampFromMs(since),
    samples: series.map(toSample),
  });

const toSample = ({ name, labels, value, points }: RecordedSeries) => ({
  name,
  labels: { ...labels },
  value,
  points: points.map((point) => ({ at: timestampFromMs(point.at), value: point.value })),
});
