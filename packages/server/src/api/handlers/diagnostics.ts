// Diagnostics of an allocation: the topology groups of its nodes and their congestion signals, its mounts, its GPUs and
// their links, and the connection of its nodes. Values that are not measured are listed as such.

import { create } from "@bufbuild/protobuf";
import type { Allocation, Node, NodeId } from "@lattice/core";
import { pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { SignalsRecord } from "../../lead/insight/question.ts";
import type { Call } from "../call/call.ts";
import { authorizeContent } from "./content.ts";
import { find } from "./work.ts";

const SECTIONS = ["network", "storage", "gpus", "nodes"] as const;
type Section = (typeof SECTIONS)[number];

const UNMEASURED_OF: Readonly<Record<Section, readonly string[]>> = {
  network: ["network.bandwidth", "network.errors"],
  storage: ["storage.throughput", "storage.latency", "storage.mount_health"],
  gpus: ["gpus.utilization", "gpus.ecc_errors"],
  nodes: [],
};

/** Available as metrics of the allocation instead. */
const SHOWN_AS_METRICS: Readonly<Record<string, string>> = {
  "storage.throughput": "Shown as the metrics io_read_bytes and io_write_bytes (lattice top ID).",
};
const NO_STORE = "Agents do not measure it, and no time-series store is configured on this cluster.";
const STORE_UNUSED =
  "Agents do not measure it. The time-series store may have it; Lattice queries the store for service scaling only.";

export async function getDiagnostics(call: Call, request: pb.DiagnosticsRequest): Promise<pb.Diagnostics> {
  const record = await find(call, request.id);
  await authorizeContent(call, "AllocationService.GetDiagnostics", record);
  const wanted = sectionsOf(request.section);
  const signals = await call.plane.askScheduler({ kind: "signals" });
  const nodes = nodesOf(call, record);
  const has = (section: Section): boolean => wanted.includes(section);
  return create(pb.DiagnosticsSchema, {
    allocationId: record.id,
    state: record.phase.kind,
    ...(has("network") ? { network: networkOf(nodes, signals) } : {}),
    ...(has("storage") ? { storage: storageOf(record, signals) } : {}),
    ...(has("gpus") ? { gpus: gpusOf(nodes) } : {}),
    nodes: has("nodes") ? nodes.map((node) => nodeOf(call, record, node)) : [],
    unmeasured: wanted
      .flatMap((section) => UNMEASURED_OF[section])
      .map((metric) => create(pb.UnmeasuredSchema, { metric, reason: reasonFor(call, metric) })),
  });
}

const reasonFor = ({ config }: Call, metric: string): string =>
  SHOWN_AS_METRICS[metric] ?? (config.telemetry.storeUrl === null ? NO_STORE : STORE_UNUSED);

function sectionsOf(text: string): readonly Section[] {
  if (text === "") return SECTIONS;
  const section = SECTIONS.find((one) => one === text.toLowerCase());
  if (section === undefined) throw invalid("section", `must be one of ${SECTIONS.join(", ")}`);
  return [section];
}

function nodesOf(call: Call, { phase }: Allocation): Node[] {
  const ids: readonly NodeId[] = "nodes" in phase ? phase.nodes : [];
  return ids.flatMap((id) => call.plane.view().node(id) ?? []);
}

function networkOf(nodes: readonly Node[], signals: SignalsRecord | null): pb.NetworkDiagnostics {
  const counts = new Map<string, number>();
  for (const { group } of nodes) counts.set(group, (counts.get(group) ?? 0) + 1);
  return create(pb.NetworkDiagnosticsSchema, {
    groupSpan: counts.size,
    groups: [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([group, count]) => {
        const congestion = signals?.values.congestion[group];
        return { group, nodes: count, ...(congestion === undefined ? {} : { congestion }) };
      }),
  });
}

function storageOf({ spec }: Allocation, signals: SignalsRecord | null): pb.StorageDiagnostics {
  const storage = signals?.values.storage;
  return create(pb.StorageDiagnosticsSchema, {
    mounts: (spec.mounts ?? []).map(({ source, target, access }) => ({ source, target, access })),
    ...(storage === undefined ? {} : { bandwidthLimit: storage.limit, bandwidthUsed: storage.used }),
  });
}

function gpusOf(nodes: readonly Node[]): pb.GpuDiagnostics {
  const types = new Set(nodes.map(({ capabilities }) => capabilities.gpuType).filter((type) => type !== ""));
  let count = 0;
  let linked = 0;
  for (const { capabilities } of nodes) {
    count += capabilities.gpuCount;
    const ends = (capabilities.gpuTopology?.links ?? [])
      .filter(({ kind }) => kind !== "pcie")
      .flatMap(({ a, b }) => [a, b]);
    linked += new Set(ends).size;
  }
  return create(pb.GpuDiagnosticsSchema, { type: [...types].sort().join(","), count, linked });
}

function nodeOf(call: Call, { phase }: Allocation, node: Node): pb.NodeDiagnostics {
  const { lastHeardAt, connected } = call.plane.liveness(node.id);
  const at = "nodes" in phase ? phase.nodes.indexOf(node.id) : -1;
  const progress = "progress" in phase ? phase.progress[at] : undefined;
  return create(pb.NodeDiagnosticsSchema, {
    node: node.id,
    state: node.state.kind,
    connected,
    ...(lastHeardAt === null ? {} : { lastHeartbeat: timestampFromMs(lastHeardAt) }),
    progress: progress?.state === "ordered" ? "pending" : (progress?.state ?? ""),
    message: progress?.message ?? "",
  });
}
