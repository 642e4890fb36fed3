// Metrics of a server by component, current and recorded. The scheduler runs on the leader alone, so its metrics are the
// leader's on every server; all others are those of the answering server.

import { create } from "@bufbuild/protobuf";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { COMPONENTS, type MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded, RecordedSeries } from "../../base/observe/recorder.ts";
import { invalid } from "../../base/problems.ts";
import { authorize, NOBODYS } from "../access/authorize.ts";
import type { Call } from "../call.ts";

/** More than a server remembers; the answer says how far it goes. */
const MOST_SECONDS = 7 * 86_400;

export async function getServerMetrics(call: Call, request: pb.GetServerMetricsRequest): Promise<pb.ServerMetrics> {
  authorize(call.principal, "AdminService.GetServerMetrics", NOBODYS);
  const { component, durationSeconds } = request;
  if (component !== "" && !isComponent(component)) {
    throw invalid("component", `must be one of ${Object.keys(COMPONENTS).join(", ")}`);
  }
  if (durationSeconds > MOST_SECONDS) throw invalid("duration_seconds", `must be at most ${MOST_SECONDS}`);
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
