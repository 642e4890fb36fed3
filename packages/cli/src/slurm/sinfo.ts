// `sinfo`: partitions and their nodes, those in the same state and of the same kind on one line, or one
// line for each node (-N).

import type { Node } from "@lattice/sdk";
import { nodesDocument } from "./as-json.ts";
import {
  type ClusterView,
  gresText,
  isBusy,
  megabytes,
  nodeState,
  type Partition,
  readCluster,
} from "./cluster-nodes.ts";
import type { SlurmCommand } from "./command.ts";
import { type Desk, print } from "./desk.ts";
import { type Fields, headerLine, type Part, parseFormat, parseLongFormat, rowLine } from "./format.ts";
import { compressHosts } from "./hostlist.ts";
import { featureText } from "./job-fields.ts";
import { refuse } from "./refusal.ts";
import { dateLine, shortSpan } from "./times.ts";
import { type Grammar, has, lastValue, listOf, readWords, type Words } from "./words.ts";

const GRAMMAR: Grammar = {
  program: "sinfo",
  rules: [
    { long: "Node", short: "N" },
    { long: "long", short: "l" },
    { long: "noheader", short: "h" },
    { long: "format", short: "o", value: "required" },
    { long: "Format", short: "O", value: "required" },
    { long: "partition", short: "p", value: "required" },
    { long: "nodes", short: "n", value: "required" },
    { long: "states", short: "t", value: "required" },
    { long: "summarize", short: "s" },
    { long: "exact", short: "e" },
    { long: "all", short: "a" },
    { long: "list-reasons", short: "R" },
    { long: "json" },
    { long: "verbose", short: "v" },
  ],
};

const FORMATS = {
  default: "%9P %.5a %.10l %.6D %.6t %N",
  long: "%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N",
  nodes: "%9N %.6D %.9P %6t",
  longNodes: "%9N %.6D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E",
  summary: "%9P %.5a %.10l %.16F %N",
  reasons: "%20E %.9u %19H %N",
} as const;

/** Nodes of one partition that are shown on one line. */
export interface Line {
  readonly partition: Partition;
  readonly nodes: readonly Node[];
}

export const command: SlurmCommand = {
  help: "Usage: sinfo [-h] [-N] [-l] [-s] [-R] [--json] [-p PARTITION,...] [-n NODE,...] [-t STATE,...] [-o FORMAT] [-O FORMAT]",
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    const view = await readCluster(desk);
    const parts = formatOf(desk, words, view);
    const lines = linesOf(view, words, parts);
    if (has(words, "json")) {
      const shown = new Set(lines.flatMap(({ nodes }) => nodes));
      print(
        nodesDocument(
          view,
          view.nodes.filter((node) => shown.has(node)),
        ),
      );
      return 0;
    }
    if (has(words, "long")) print(dateLine(new Date(desk.now)));
    if (!has(words, "noheader")) print(headerLine(parts));
    for (const line of lines) print(rowLine(parts, line));
    return 0;
  },
};

function linesOf(view: ClusterView, words: Words, parts: readonly Part<Line>[]): readonly Line[] {
  const wanted = listOf(words, "partition");
  const names = listOf(words, "nodes");
  const states = listOf(words, "states")?.map((text) => text.toLowerCase());
  const fits = (node: Node): boolean => {
    const { short, long } = nodeState(node);
    const bare = [short, long].map((text) => text.replace("*", ""));
    if (has(words, "list-reasons") && (node.reason ?? "") === "") return false;
    return (names?.includes(node.id) ?? true) && (states?.some((text) => bare.includes(text)) ?? true);
  };
  const partitions = view.partitions
    .filter(({ name }) => wanted?.includes(name) ?? true)
    .toSorted((a, b) => Number(b.vcluster.is_default ?? false) - Number(a.vcluster.is_default ?? false));
  if (!has(words, "list-reasons")) {
    return partitions.flatMap((partition) => group(partition, partition.nodes.filter(fits), words, parts));
  }
  // Each node once, whatever partitions it is in; those without a reason are not spoken of.
  const [first] = partitions;
  const nodes = [...new Set(partitions.flatMap((partition) => partition.nodes.filter(fits)))];
  return first === undefined || nodes.length === 0 ? [] : group(first, nodes, words, parts);
}

/** Lines differ where a shown column differs; the list of nodes and their number do not count. */
function group(partition: Partition, nodes: readonly Node[], words: Words, parts: readonly Part<Line>[]) {
  if (has(words, "Node")) return nodes.map((node) => ({ partition, nodes: [node] }));
  if (nodes.length === 0 || has(words, "summarize")) return [{ partition, nodes }];
  const telling = parts.filter(({ field }) => field !== null && !TOGETHER.has(field.header));
  const lines = new Map<string, Node[]>();
  for (const node of nodes) {
    const key = telling.map(({ field }) => field?.value({ partition, nodes: [node] })).join("\0");
    lines.set(key, [...(lines.get(key) ?? []), node]);
  }
  return [...lines.values()].map((together) => ({ partition, nodes: together }));
}

const TOGETHER = new Set(["NODES", "NODELIST", "NODES(A/I)", "NODES(A/I/O/T)"]);

const LONG_NAMES: Readonly<Record<string, string>> = {
  partition: "P",
  partitionname: "R",
  available: "a",
  time: "l",
  nodes: "D",
  statecompact: "t",
  statelong: "T",
  nodelist: "N",
  nodehost: "n",
  cpus: "c",
  memory: "m",
  gres: "G",
  features: "f",
  nodeai: "A",
  nodeaiot: "F",
  reason: "E",
};

function formatOf(desk: Desk, words: Words, view: ClusterView): readonly Part<Line>[] {
  const long = lastValue(words, "Format");
  const parts =
    long === undefined
      ? parseFormat(lastValue(words, "format") ?? desk.env.SINFO_FORMAT ?? wideEnough(usualFormat(words), view), FIELDS)
      : parseLongFormat(long, FIELDS, LONG_NAMES);
  if (typeof parts === "string") throw refuse("sinfo", `Invalid node format specification: ${parts}`);
  return parts;
}

/** The usual tables show names of partitions and nodes whole. */
function wideEnough(format: string, { partitions, nodes }: ClusterView): string {
  const partition = Math.max(9, ...partitions.map(({ name, vcluster }) => name.length + (vcluster.is_default ? 1 : 0)));
  const node = Math.max(9, ...nodes.map(({ id }) => id.length));
  return format.replace("9P", `${partition}P`).replace("9N", `${node}N`);
}

function usualFormat(words: Words): string {
  const long = has(words, "long");
  if (has(words, "list-reasons")) return FORMATS.reasons;
  if (has(words, "summarize")) return FORMATS.summary;
  if (has(words, "Node")) return long ? FORMATS.longNodes : FORMATS.nodes;
  return long ? FORMATS.long : FORMATS.default;
}

const first =
  (of: (node: Node) => string, absent: string) =>
  ({ nodes: [node] }: Line) =>
    node === undefined ? absent : of(node);

const FIELDS: Fields<Line> = {
  P: { header: "PARTITION", value: ({ partition }) => `${partition.name}${partition.vcluster.is_default ? "*" : ""}` },
  R: { header: "PARTITION", value: ({ partition }) => partition.name },
  a: { header: "AVAIL", value: () => "up" },
  l: { header: "TIMELIMIT", value: ({ partition }) => limitText(partition) },
  D: { header: "NODES", value: ({ nodes }) => `${nodes.length}` },
  t: { header: "STATE", value: first((node) => nodeState(node).short, "n/a") },
  T: { header: "STATE", value: first((node) => nodeState(node).long, "n/a") },
  N: { header: "NODELIST", value: ({ nodes }) => compressHosts(nodes.map(({ id }) => id)) },
  n: { header: "HOSTNAMES", value: first(({ id }) => id, "") },
  c: { header: "CPUS", value: first(({ capabilities }) => `${capabilities?.cpu_cores ?? 0}`, "0") },
  z: { header: "S:C:T", value: first(({ capabilities }) => `${capabilities?.cpu_cores ?? 0}:1:1`, "0:0:0") },
  m: { header: "MEMORY", value: first((node) => `${megabytes(node)}`, "0") },
  d: { header: "TMP_DISK", value: () => "0" },
  w: { header: "WEIGHT", value: () => "1" },
  G: { header: "GRES", value: first(gresText, "(null)") },
  f: { header: "AVAIL_FEATURES", value: first(({ capabilities }) => featureText(capabilities?.features), "(null)") },
  b: { header: "ACTIVE_FEATURES", value: first(({ capabilities }) => featureText(capabilities?.features), "(null)") },
  A: { header: "NODES(A/I)", value: ({ nodes }) => counts(nodes).slice(0, 2).join("/") },
  F: { header: "NODES(A/I/O/T)", value: ({ nodes }) => counts(nodes).join("/") },
  E: { header: "REASON", value: first(({ reason }) => reason || "none", "none") },
  H: { header: "TIMESTAMP", value: first(({ since }) => since?.slice(0, 19) ?? "Unknown", "Unknown") },
  u: { header: "USER", value: () => "Unknown" },
  s: { header: "JOB_SIZE", value: () => "1-infinite" },
  r: { header: "ROOT", value: () => "no" },
  h: { header: "OVERSUBS", value: () => "EXCLUSIVE" },
  g: { header: "GROUPS", value: () => "all" },
};

/** In use, free, other, all. */
function counts(nodes: readonly Node[]): readonly number[] {
  const usable = nodes.filter(({ state }) => state === "ready");
  const busy = usable.filter(isBusy).length;
  return [busy, usable.length - busy, nodes.length - usable.length, nodes.length];
}

function limitText({ vcluster }: Partition): string {
  const seconds = vcluster.max_walltime_seconds ?? 0;
  return seconds === 0 ? "infinite" : shortSpan(seconds);
}
