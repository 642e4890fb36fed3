// Metrics of allocations as reported by their agents; the leader keeps them for an hour. Values that are missing are
// left out, and the answer gives the reason. Comparisons also show facts from the state.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isFinal, telemetryOf } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { Sample } from "../../lead/telemetry/samples.ts";
import type { Call } from "../call/call.ts";
import type { RpcName } from "../call/rpc.ts";
import { pause } from "../streams/pause.ts";
import { alignedSeries, type MeasuredLife } from "./aligned-series.ts";
import { authorizeContent, isSensitiveWork } from "./content.ts";
import { metricNames } from "./metric-names.ts";
import { MEASURED, seriesOf, shownValue } from "./metric-series.ts";
import { find } from "./work.ts";

const GPUS_UNMEASURED = "Agents measure processors, memory and storage; GPUs are not measured.";
const NO_ALERTS = "No thresholds are configured, so there are no alerts.";
/** The reason in every answer without values. */
const NO_SAMPLES =
  "No samples in that time: agents report every 30 s (every second in debug mode), and the leader keeps one hour.";

const MODES = ["summary", "per_node", "per_gpu"] as const;
/** A week, as long as a time-series store keeps full resolution. */
const MAX_SECONDS = 7 * 86_400;
const MAX_COMPARED = 10;
const DEFAULT_SECONDS = 300;
/** The report interval of agents. */
const WINDOW_MS = { prod: 30_000, debug: 1_000, audit: 30_000 } as const;
const POLL_INTERVAL_MS = 1_000;

export async function queryMetrics(call: Call, request: pb.MetricsRequest): Promise<pb.MetricsResponse> {
  const record = await findFor(call, "AllocationService.QueryMetrics", request.id);
  const name = request.mode === "" ? "summary" : request.mode.toLowerCase().replaceAll("-", "_");
  const mode = MODES.find((one) => one === name);
  if (mode === undefined) throw invalid("mode", `must be one of ${MODES.join(", ")}`);
  const metrics = metricNames(request.metrics);
  if (request.durationSeconds > MAX_SECONDS) throw invalid("duration_seconds", `must be at most ${MAX_SECONDS}`);
  const telemetryMode = telemetryOf(record.spec, call.plane.now());
  const answer = { allocationId: record.id, mode, telemetryMode };
  if (mode === "per_gpu") return create(pb.MetricsResponseSchema, { ...answer, unavailableReason: GPUS_UNMEASURED });
  const seconds = request.durationSeconds === 0 ? DEFAULT_SECONDS : request.durationSeconds;
  const samples = await samplesOf(call, record, call.plane.now() - seconds * 1000);
  const windowMs = WINDOW_MS[telemetryMode];
  const series = seriesOf(samples, { mode, metrics, windowMs });
  return create(pb.MetricsResponseSchema, {
    ...answer,
    series,
    ...(series.length === 0 ? { unavailableReason: NO_SAMPLES } : {}),
  });
}

/** Agents report to the leader only. */
const samplesOf = (call: Call, { id }: Allocation, after: number): Promise<readonly Sample[]> =>
  call.plane.askScheduler({ kind: "samples", id, after });

export async function* streamMetrics(
  call: Call,
  request: pb.StreamMetricsRequest,
): AsyncGenerator<pb.MetricsEvent, void> {
  let record = await findFor(call, "AllocationService.StreamMetrics", request.id);
  const metrics = metricNames(request.metrics);
  const unavailable = (unavailableReason: string): pb.MetricsEvent =>
    create(pb.MetricsEventSchema, {
      at: timestampFromMs(call.plane.now()),
      allocationId: record.id,
      unavailableReason,
    });
  if (request.alertsOnly) return yield unavailable(NO_ALERTS);
  let after: number = call.plane.now() - DEFAULT_SECONDS * 1000;
  let sent = false;
  while (!call.signal.aborted) {
    const over = isFinal(record.phase);
    for (const sample of await samplesOf(call, record, after)) {
      after = Math.max(after, sample.at);
      const values = valuesOf(sample, metrics);
      if (Object.keys(values).length === 0) continue;
      sent = true;
      yield create(pb.MetricsEventSchema, {
        at: timestampFromMs(sample.at),
        allocationId: record.id,
        node: sample.node,
        values,
      });
    }
    if (over || !("nodes" in record.phase)) break;
    await pause(POLL_INTERVAL_MS, call.signal);
    record = await find(call, request.id);
  }
  if (!sent && !call.signal.aborted) yield unavailable(NO_SAMPLES);
}

function valuesOf(sample: Sample, metrics: readonly string[]): Record<string, number> {
  const names = Object.keys(MEASURED).filter((name) => metrics.length === 0 || metrics.includes(name));
  const measured = names.filter((name) => sample.values[name] !== undefined);
  return Object.fromEntries(measured.map((name) => [name, shownValue(name, sample)]));
}

export async function compareMetrics(call: Call, request: pb.CompareRequest): Promise<pb.Comparison> {
  const ids = [...new Set(request.ids)];
  if (ids.length < 2 || ids.length > MAX_COMPARED) {
    throw invalid("ids", `names ${ids.length} allocations; give 2 to ${MAX_COMPARED}`, "For example ids=12,13.");
  }
  const align = request.align === "" ? "relative" : request.align.toLowerCase();
  if (align !== "relative" && align !== "absolute") throw invalid("align", "must be relative or absolute");
  const metrics = metricNames(request.metrics);
  const records: Allocation[] = [];
  for (const id of ids) records.push(await findFor(call, "AllocationService.CompareMetrics", id));
  const sensitive = records.filter((record) => isSensitiveWork(call.plane.view(), record)).length;
  if (sensitive > 0 && sensitive < records.length)
    throw invalid(
      "ids",
      "names sensitive and other allocations",
      "Compare sensitive work only with your other sensitive work.",
    );
  const lives: MeasuredLife[] = [];
  for (const record of records) lives.push(await lifeOf(call, record, metrics));
  const series = alignedSeries(lives, align);
  return create(pb.ComparisonSchema, {
    align,
    allocations: records.map((record, n) => ({ ...comparedOf(call, record), series: series[n] ?? [] })),
    ...(series.some((one) => one.length > 0) ? {} : { unavailableReason: NO_SAMPLES }),
  });
}

async function lifeOf(call: Call, record: Allocation, metrics: readonly string[]): Promise<MeasuredLife> {
  const startMs = "startedAt" in record.phase ? (record.phase.startedAt ?? 0) : 0;
  const windowMs = WINDOW_MS[telemetryOf(record.spec, call.plane.now())];
  const series = seriesOf(await samplesOf(call, record, startMs), { mode: "summary", metrics, windowMs });
  return { startMs, series };
}

async function findFor(call: Call, rpc: RpcName, id: string): Promise<Allocation> {
  const record = await find(call, id);
  await authorizeContent(call, rpc, record);
  return record;
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
