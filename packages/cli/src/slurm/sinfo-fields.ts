// The columns of sinfo, by the letters of its format strings and the names of the long form. When sizes differ within a
// line, the smallest is shown with a plus, as Slurm does.

import type { Node } from "@lattice/sdk";
import { compressHosts } from "@lattice/wire";
import { gresText, isBusy, megabytes, nodeState, type Partition } from "./cluster-nodes.ts";
import type { Field, Fields } from "./format.ts";
import { featureText } from "./job-fields.ts";
import { localTime, shortSpan } from "./times.ts";

/** Nodes of one partition that share a line. */
export interface NodeGroup {
  readonly partition: Partition;
  readonly nodes: readonly Node[];
}

type Value = Field<NodeGroup>["value"];

const first =
  (of: (node: Node) => string, absent: string): Value =>
  ({ nodes: [node] }) =>
    node === undefined ? absent : of(node);

const size =
  (of: (node: Node) => number): Value =>
  ({ nodes }) => {
    const sizes = nodes.map(of);
    const least = sizes.length === 0 ? 0 : Math.min(...sizes);
    return `${least}${sizes.some((value) => value > least) ? "+" : ""}`;
  };

const coresOf = ({ capabilities }: Node): number => capabilities?.cpu_cores ?? 0;
const featuresOf = ({ capabilities }: Node): string => featureText(capabilities?.features);
const always = (header: string, text: string): Field<NodeGroup> => ({ header, value: () => text });

export const SINFO_FIELDS: Fields<NodeGroup> = {
  a: always("AVAIL", "up"),
  A: { header: "NODES(A/I)", value: ({ nodes }) => counts(nodes).slice(0, 2).join("/") },
  b: { header: "ACTIVE_FEATURES", value: first(featuresOf, "(null)") },
  B: always("MAX_CPUS_PER_NODE", "UNLIMITED"),
  c: { header: "CPUS", value: size(coresOf) },
  C: { header: "CPUS(A/I/O/T)", value: ({ nodes }) => coreCounts(nodes).join("/") },
  d: always("TMP_DISK", "0"),
  D: { header: "NODES", value: ({ nodes }) => `${nodes.length}` },
  e: always("FREE_MEM", "N/A"),
  E: { header: "REASON", value: first(({ reason }) => reason || "none", "none") },
  f: { header: "AVAIL_FEATURES", value: first(featuresOf, "(null)") },
  F: { header: "NODES(A/I/O/T)", value: ({ nodes }) => counts(nodes).join("/") },
  g: always("GROUPS", "all"),
  G: { header: "GRES", value: first(gresText, "(null)") },
  h: {
    header: "OVERSUBSCRIBE",
    value: ({ partition }) => (partition.vcluster.shares_nodes === true ? "NO" : "EXCLUSIVE"),
  },
  H: { header: "TIMESTAMP", value: first(reasonTime, "Unknown") },
  i: always("RESERVATION", ""),
  I: always("PRIO_JOB_FACTOR", "1"),
  k: always("COMMENT", "(null)"),
  l: { header: "TIMELIMIT", value: ({ partition }) => limitText(partition.vcluster.max_walltime_seconds, "infinite") },
  L: { header: "DEFAULTTIME", value: ({ partition }) => limitText(partition.vcluster.default_walltime_seconds, "n/a") },
  m: { header: "MEMORY", value: size(megabytes) },
  M: {
    header: "PREEMPT_MODE",
    value: ({ partition }) => (partition.vcluster.preemptible === "never" ? "OFF" : "REQUEUE"),
  },
  n: { header: "HOSTNAMES", value: first(({ id }) => id, "") },
  N: { header: "NODELIST", value: ({ nodes }) => compressHosts(nodes.map(({ id }) => id)), uncut: true },
  o: { header: "NODE_ADDR", value: first(({ id, address }) => address || id, "") },
  O: always("CPU_LOAD", "N/A"),
  p: always("PRIO_TIER", "1"),
  P: { header: "PARTITION", value: ({ partition }) => `${partition.name}${partition.vcluster.is_default ? "*" : ""}` },
  r: always("ROOT", "no"),
  R: { header: "PARTITION", value: ({ partition }) => partition.name },
  s: always("JOB_SIZE", "1-infinite"),
  S: always("ALLOCNODES", "all"),
  t: { header: "STATE", value: first((node) => nodeState(node).short, "n/a") },
  T: { header: "STATE", value: first((node) => nodeState(node).long, "n/a") },
  u: always("USER", "Unknown"),
  U: always("USER", "Unknown"),
  v: { header: "VERSION", value: first(({ agent_version }) => agent_version || "N/A", "N/A") },
  V: always("CLUSTER", "lattice"),
  w: always("WEIGHT", "1"),
  X: { header: "SOCKETS", value: size(coresOf) },
  Y: always("CORES", "1"),
  z: { header: "S:C:T", value: (line) => `${size(coresOf)(line)}:1:1` },
  Z: always("THREADS", "1"),
  allocmem: {
    header: "ALLOCMEM",
    value: ({ nodes }) => `${nodes.filter(isBusy).reduce((sum, node) => sum + megabytes(node), 0)}`,
  },
  extra: always("EXTRA", "(null)"),
  gresused: { header: "GRES_USED", value: first(gresUsed, "(null)") },
  port: always("PORT", "0"),
  statecomplete: { header: "STATECOMPLETE", value: first((node) => nodeState(node).long, "n/a") },
};

export const SINFO_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  `allocnodes:S available:a cluster:V comment:k cores:Y cpus:c cpusload:O cpusstate:C defaulttime:L disk:d features:f
  features_act:b freemem:e gres:G groups:g maxcpuspernode:B memory:m nodeaddr:o nodeai:A nodeaiot:F nodehost:n nodelist:N
  nodes:D oversubscribe:h partition:P partitionname:R preemptmode:M priorityjobfactor:I prioritytier:p reason:E
  reservation:i root:r share:h size:s sockets:X socketcorethread:z statecompact:t statelong:T threads:Z time:l timestamp:H
  user:u userlong:U version:v weight:w`
    .split(/\s+/)
    .map((pair) => pair.split(":") as [string, string]),
);

/** The time since which the reason holds. */
function reasonTime({ reason = "", since }: Node): string {
  return (reason === "" ? "" : localTime(since)) || "Unknown";
}

/** Columns that do not split nodes into separate lines. */
export const AGGREGATE_COLUMNS: ReadonlySet<string> = new Set([
  "NODES",
  "NODELIST",
  "NODES(A/I)",
  "NODES(A/I/O/T)",
  "CPUS(A/I/O/T)",
  "ALLOCMEM",
]);

/** Columns that split nodes into separate lines only with --exact. */
export const SIZE_COLUMNS: ReadonlySet<string> = new Set(["CPUS", "MEMORY", "S:C:T", "SOCKETS"]);

/** Returns allocated, idle, other, total. */
function counts(nodes: readonly Node[]): readonly number[] {
  const usable = nodes.filter(({ state }) => state === "ready");
  const busy = usable.filter(isBusy).length;
  return [busy, usable.length - busy, nodes.length - usable.length, nodes.length];
}

/** Returns allocated, idle, other and total cores; a shared node counts partly as allocated. */
function coreCounts(nodes: readonly Node[]): readonly number[] {
  let [busy, idle, other] = [0, 0, 0];
  for (const node of nodes) {
    const all = coresOf(node);
    const used = Math.min(
      all,
      (node.claims ?? []).reduce((sum, claim) => sum + (claim.cpu_cores || all), 0),
    );
    busy += used;
    if (node.state === "ready") idle += all - used;
    else other += all - used;
  }
  return [busy, idle, other, busy + idle + other];
}

function gresUsed(node: Node): string {
  const all = node.capabilities?.gpu_count ?? 0;
  if (all === 0) return "(null)";
  const used = Math.min(
    all,
    (node.claims ?? []).reduce((sum, claim) => sum + (claim.gpu_count || all), 0),
  );
  return gresText(node).replace(/\d+$/, `${used}`);
}

const limitText = (seconds: number | undefined, absent: string): string =>
  seconds === undefined || seconds === 0 ? absent : shortSpan(seconds);
