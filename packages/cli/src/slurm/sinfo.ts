// `sinfo`: partitions and their nodes. Nodes with the same state and kind share a line, or each has its own (-N).

import type { Node } from "@lattice/sdk";
import { expandHostlist } from "@lattice/wire";
import { type ClusterView, nodeState, type Partition, readCluster } from "./cluster-nodes.ts";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, listOf, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { type Format, type FormatPart, headerLine, parseFormat, parseLongFormat, rowLine } from "./format.ts";
import { repeatEvery } from "./repeat-every.ts";
import { AGGREGATE_COLUMNS, type NodeGroup, SINFO_FIELDS, SINFO_NAMES, SIZE_COLUMNS } from "./sinfo-fields.ts";
import { dateLine } from "./times.ts";

const GRAMMAR: Grammar = {
  program: "sinfo",
  rules: [
    { long: "Node", short: "N" },
    { long: "long", short: "l" },
    { long: "noheader", short: "h" },
    { long: "format", short: "o", value: "required" },
    { long: "Format", short: "O", value: "required" },
    { long: "partition", short: "p", value: "required" },
    { long: "partitions", value: "required", as: "partition" },
    { long: "nodes", short: "n", value: "required" },
    { long: "states", short: "t", value: "required" },
    { long: "dead", short: "d" },
    { long: "responding", short: "r" },
    { long: "noconvert" },
    { long: "hide" },
    { long: "summarize", short: "s" },
    { long: "exact", short: "e" },
    { long: "all", short: "a" },
    { long: "list-reasons", short: "R" },
    { long: "json" },
    { long: "verbose", short: "v" },
    { long: "iterate", short: "i", value: "required" },
    { long: "usage" },
    ...["federation", "local"].map((long) => ({ long })),
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

export const command: SlurmCommand = {
  help: "Usage: sinfo [-h] [-N] [-l] [-e] [-s] [-R] [-d|-r] [-i SECONDS] [--json] [-p PARTITION,...] [-n NODE,...] [-t STATE,...] [-o FORMAT] [-O FORMAT]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    if (has(words, "usage")) return print(command.help) ?? 0;
    const interval = lastValue(words, "iterate");
    return repeatEvery("sinfo", interval, (now) => show({ ...context, now }, words, interval !== undefined));
  },
};

async function show(context: SlurmContext, words: SlurmCommandLine, repeats: boolean): Promise<number> {
  const view = await readCluster(context);
  const { parts, unknown } = formatOf(context, words, view);
  reportUnknown(unknown, has(words, "Format"));
  const lines = linesOf(view, words, parts);
  if (has(words, "json")) {
    const { nodesDocument } = await import("./as-json.ts");
    const shown = new Set(lines.flatMap(({ nodes }) => nodes));
    const nodes = view.nodes.filter((node) => shown.has(node));
    return print(nodesDocument(view, nodes)) ?? 0;
  }
  const headed = !has(words, "noheader");
  if (headed && (repeats || has(words, "long") || has(words, "verbose"))) print(dateLine(new Date(context.now)));
  if (headed) print(headerLine(parts));
  for (const line of lines) print(rowLine(parts, line));
  return 0;
}

/** Slurm's message has no program name in the short form. */
function reportUnknown(unknown: readonly string[], long: boolean): void {
  for (const name of unknown)
    printError(
      long ? `sinfo: error: Invalid job format specification: ${name}` : `Invalid node format specification: ${name}`,
    );
}

function linesOf(
  view: ClusterView,
  words: SlurmCommandLine,
  parts: readonly FormatPart<NodeGroup>[],
): readonly NodeGroup[] {
  const selected = listOf(words, "partition");
  const names = listOf(words, "nodes")?.flatMap((text) => expandHostlist(text) ?? [text]);
  const states = listOf(words, "states")?.map((text) => text.toLowerCase());
  const fits = (node: Node): boolean => {
    const { short, long } = nodeState(node);
    const bare = [short, long].map((text) => text.replace("*", ""));
    if (has(words, "list-reasons") && (node.reason ?? "") === "") return false;
    if (has(words, "dead") && !short.endsWith("*")) return false;
    if (has(words, "responding") && short.endsWith("*")) return false;
    return (names?.includes(node.id) ?? true) && (states?.some((text) => bare.includes(text)) ?? true);
  };
  const partitions = view.partitions
    .filter(({ name }) => selected?.includes(name) ?? true)
    .toSorted((a, b) => Number(b.vcluster.is_default ?? false) - Number(a.vcluster.is_default ?? false));
  if (!has(words, "list-reasons")) {
    const lines = partitions.flatMap((partition) => group(partition, partition.nodes.filter(fits), words, parts));
    return has(words, "Node") ? lines.toSorted(byNode) : lines;
  }
  // Each node with a reason once, whatever partitions it is in.
  const [first] = partitions;
  const nodes = [...new Set(partitions.flatMap((partition) => partition.nodes.filter(fits)))];
  return first === undefined || nodes.length === 0 ? [] : group(first, nodes, words, parts);
}

/** Keeps the partitions of one node together, in their order. */
const byNode = (a: NodeGroup, b: NodeGroup): number =>
  (a.nodes[0]?.id ?? "").localeCompare(b.nodes[0]?.id ?? "", "en", { numeric: true });

/** Groups nodes whose shown columns are equal, ignoring aggregate columns. */
function group(
  partition: Partition,
  nodes: readonly Node[],
  words: SlurmCommandLine,
  parts: readonly FormatPart<NodeGroup>[],
) {
  if (has(words, "Node")) return nodes.map((node) => ({ partition, nodes: [node] }));
  if (nodes.length === 0 || has(words, "summarize")) return [{ partition, nodes }];
  const exact = has(words, "exact");
  const isDistinguishing = (header: string): boolean =>
    !AGGREGATE_COLUMNS.has(header) && (exact || !SIZE_COLUMNS.has(header));
  const distinguishing = parts.filter(({ field }) => field !== null && isDistinguishing(field.header));
  const lines = new Map<string, Node[]>();
  for (const node of nodes) {
    const key = distinguishing.map(({ field }) => field?.value({ partition, nodes: [node] })).join("\0");
    lines.set(key, [...(lines.get(key) ?? []), node]);
  }
  return [...lines.values()].map((together) => ({ partition, nodes: together }));
}

function formatOf(context: SlurmContext, words: SlurmCommandLine, view: ClusterView): Format<NodeGroup> {
  const long = lastValue(words, "Format");
  if (long !== undefined) return parseLongFormat(long, SINFO_FIELDS, SINFO_NAMES);
  const text = lastValue(words, "format") ?? context.env.SINFO_FORMAT ?? wideEnough(defaultFormat(words), view);
  return parseFormat(text, SINFO_FIELDS);
}

/** Widens the default formats so that names of partitions and nodes are not cut. */
function wideEnough(format: string, { partitions, nodes }: ClusterView): string {
  const partition = Math.max(9, ...partitions.map(({ name, vcluster }) => name.length + (vcluster.is_default ? 1 : 0)));
  const node = Math.max(9, ...nodes.map(({ id }) => id.length));
  return format.replace("9P", `${partition}P`).replace("9N", `${node}N`);
}

function defaultFormat(words: SlurmCommandLine): string {
  const long = has(words, "long");
  if (has(words, "list-reasons")) return FORMATS.reasons;
  if (has(words, "summarize")) return FORMATS.summary;
  if (has(words, "Node")) return long ? FORMATS.longNodes : FORMATS.nodes;
  return long ? FORMATS.long : FORMATS.default;
}
