// What a server counts, by part of it, now and as it remembers it. The scheduler works on the leader alone, so that its
// figures are the leader's, whichever server is asked; all others are of the server itself.

import { create } from "@bufbuild/protobuf";
import { pb, timestampFromMs } from "@lattice/wire";
import { COMPONENTS, type MetricsComponent } from "../../observe/components.ts";
import type { Recorded, RecordedSeries } from "../../observe/recorder.ts";
import { authorize, NOBODYS } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { invalid } from "./refuse.ts";

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
  const found =
    wanted === "scheduler" && !call.plane.logStatus().isLeader
      ? await call.plane.consult({ kind: "recorded", component: wanted, after })
      : await call.plane.recorded(wanted, after);
  return toProto(component, found);
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
