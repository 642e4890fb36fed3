// Measured values of allocations. No time-series store is connected yet, so there are no values to show: the requests
// are checked as they will be, and the answer says that nothing is measured, and why. What the state itself knows of
// allocations that are compared is shown.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isFinal, telemetryOf } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import type { RpcName } from "../rpc.ts";
import { invalid } from "./refuse.ts";
import { find, ownerOf } from "./work.ts";

export const METRICS = [
  "gpu_utilization",
  "gpu_memory_used",
  "gpu_power_draw",
  "cpu_utilization",
  "memory_used",
  "network_tx_bytes",
  "network_rx_bytes",
  "io_read_bytes",
  "io_write_bytes",
  "io_latency_p99",
] as const;

/** Said with every answer that has no values. */
export const UNMEASURED = "No time-series store is configured on this cluster, so nothing is measured.";

const MODES = ["summary", "per_node", "per_gpu"] as const;
/** A week: what a store keeps at full resolution. */
const MOST_SECONDS = 7 * 86_400;
const MOST_COMPARED = 10;

export async function queryMetrics(call: Call, request: pb.MetricsRequest): Promise<pb.MetricsResponse> {
  const record = await findFor(call, "AllocationService.QueryMetrics", request.id);
  const asked = request.mode === "" ? "summary" : request.mode.toLowerCase().replaceAll("-", "_");
  const mode = MODES.find((one) => one === asked);
  if (mode === undefined) throw invalid("mode", `must be one of ${MODES.join(", ")}`);
  checkNames(request.metrics);
  if (request.durationSeconds > MOST_SECONDS) throw invalid("duration_seconds", `must be at most ${MOST_SECONDS}`);
  return create(pb.MetricsResponseSchema, {
    allocationId: record.id,
    mode,
    unavailableReason: UNMEASURED,
    telemetryMode: telemetryOf(record.spec, call.plane.now()),
  });
}

export async function* streamMetrics(
  call: Call,
  request: pb.StreamMetricsRequest,
): AsyncGenerator<pb.MetricsEvent, void> {
  const record = await findFor(call, "AllocationService.StreamMetrics", request.id);
  checkNames(request.metrics);
  yield create(pb.MetricsEventSchema, {
    at: timestampFromMs(call.plane.now()),
    allocationId: record.id,
    unavailableReason: UNMEASURED,
  });
}

export async function compareMetrics(call: Call, request: pb.CompareRequest): Promise<pb.Comparison> {
  const ids = [...new Set(request.ids)];
  if (ids.length < 2 || ids.length > MOST_COMPARED) {
    throw invalid("ids", `names ${ids.length} allocations; give 2 to ${MOST_COMPARED}`, "For example ids=12,13.");
  }
  const align = request.align === "" ? "relative" : request.align.toLowerCase();
  if (align !== "relative" && align !== "absolute") throw invalid("align", "must be relative or absolute");
  checkNames(request.metrics);
  const allocations: pb.ComparedAllocation[] = [];
  for (const id of ids) {
    allocations.push(comparedOf(call, await findFor(call, "AllocationService.CompareMetrics", id)));
  }
  return create(pb.ComparisonSchema, { align, allocations, unavailableReason: UNMEASURED });
}

async function findFor(call: Call, rpc: RpcName, id: string): Promise<Allocation> {
  const record = await find(call, id);
  authorize(call.principal, rpc, ownerOf(record));
  return record;
}

function checkNames(names: readonly string[]): void {
  const unknown = names.find((name) => !(METRICS as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw invalid(
    "metrics",
    `there is no metric ${JSON.stringify(unknown.slice(0, 80))}`,
    `There are ${METRICS.join(", ")}.`,
  );
}

function comparedOf(call: Call, { id, spec, phase, attempt }: Allocation): pb.ComparedAllocation {
  const view = call.plane.view();
  const nodes = "nodes" in phase ? phase.nodes : [];
  const startedAt = "startedAt" in phase ? phase.startedAt : null;
  const endedAt = isFinal(phase) ? phase.endedAt : null;
  return create(pb.ComparedAllocationSchema, {
    allocationId: id,
    name: spec.name,
    state: phase.kind,
    ...(startedAt === null ? {} : { startedAt: timestampFromMs(startedAt) }),
    ...(endedAt === null ? {} : { endedAt: timestampFromMs(endedAt) }),
    elapsedSeconds: startedAt === null ? 0 : Math.max(0, (endedAt ?? call.plane.now()) - startedAt) / 1000,
    nodes: nodes.length,
    gpus: nodes.reduce((sum, node) => sum + (view.node(node)?.capabilities.gpuCount ?? 0), 0),
    attempt,
  });
}
