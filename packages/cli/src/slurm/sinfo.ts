// `sinfo`: partitions and their nodes, those in the same state and of the same kind on one line, or one
// line for each node (-N).

import type { Node } from "@lattice/sdk";
import { expandHostlist } from "@lattice/wire";
import { again } from "./again.ts";
import { type ClusterView, nodeState, type Partition, readCluster } from "./cluster-nodes.ts";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk, print } from "./desk.ts";
import { type Format, headerLine, type Part, parseFormat, parseLongFormat, rowLine } from "./format.ts";
import { type Line, SINFO_FIELDS, SINFO_NAMES, SIZES, TOGETHER } from "./sinfo-fields.ts";
import { dateLine } from "./times.ts";
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
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    if (has(words, "usage")) return print(command.help) ?? 0;
    const interval = lastValue(words, "iterate");
    return again("sinfo", interval, (now) => show({ ...desk, now }, words, interval !== undefined));
  },
};

async function show(desk: Desk, words: Words, repeats: boolean): Promise<number> {
  const view = await readCluster(desk);
  const { parts, unknown } = formatOf(desk, words, view);
  tellUnknown(unknown, has(words, "Format"));
  const lines = linesOf(view, words, parts);
  if (has(words, "json")) {
    const { nodesDocument } = await import("./as-json.ts");
    const shown = new Set(lines.flatMap(({ nodes }) => nodes));
    const nodes = view.nodes.filter((node) => shown.has(node));
    return print(nodesDocument(view, nodes)) ?? 0;
  }
  const headed = !has(words, "noheader");
  if (headed && (repeats || has(words, "long") || has(words, "verbose"))) print(dateLine(new Date(desk.now)));
  if (headed) print(headerLine(parts));
  for (const line of lines) print(rowLine(parts, line));
  return 0;
}

/** In the short form Slurm says it without its name. */
function tellUnknown(unknown: readonly string[], long: boolean): void {
  for (const name of unknown)
    complain(
      long ? `sinfo: error: Invalid job format specification: ${name}` : `Invalid node format specification: ${name}`,
    );
}

function linesOf(view: ClusterView, words: Words, parts: readonly Part<Line>[]): readonly Line[] {
  const wanted = listOf(words, "partition");
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
    .filter(({ name }) => wanted?.includes(name) ?? true)
    .toSorted((a, b) => Number(b.vcluster.is_default ?? false) - Number(a.vcluster.is_default ?? false));
  if (!has(words, "list-reasons")) {
    const lines = partitions.flatMap((partition) => group(partition, partition.nodes.filter(fits), words, parts));
    return has(words, "Node") ? lines.toSorted(byNode) : lines;
  }
  // Each node once, whatever partitions it is in; those without a reason are not spoken of.
  const [first] = partitions;
  const nodes = [...new Set(partitions.flatMap((partition) => partition.nodes.filter(fits)))];
  return first === undefined || nodes.length === 0 ? [] : group(first, nodes, words, parts);
}

/** Of one node all partitions together, as they come. */
const byNode = (a: Line, b: Line): number =>
  (a.nodes[0]?.id ?? "").localeCompare(b.nodes[0]?.id ?? "", "en", { numeric: true });

/** Lines differ where a shown column differs; the list of nodes and their number do not count. */
function group(partition: Partition, nodes: readonly Node[], words: Words, parts: readonly Part<Line>[]) {
  if (has(words, "Node")) return nodes.map((node) => ({ partition, nodes: [node] }));
  if (nodes.length === 0 || has(words, "summarize")) return [{ partition, nodes }];
  const exact = has(words, "exact");
  const isTelling = (header: string): boolean => !TOGETHER.has(header) && (exact || !SIZES.has(header));
  const telling = parts.filter(({ field }) => field !== null && isTelling(field.header));
  const lines = new Map<string, Node[]>();
  for (const node of nodes) {
    const key = telling.map(({ field }) => field?.value({ partition, nodes: [node] })).join("\0");
    lines.set(key, [...(lines.get(key) ?? []), node]);
  }
  return [...lines.values()].map((together) => ({ partition, nodes: together }));
}

function formatOf(desk: Desk, words: Words, view: ClusterView): Format<Line> {
  const long = lastValue(words, "Format");
  if (long !== undefined) return parseLongFormat(long, SINFO_FIELDS, SINFO_NAMES);
  const text = lastValue(words, "format") ?? desk.env.SINFO_FORMAT ?? wideEnough(usualFormat(words), view);
  return parseFormat(text, SINFO_FIELDS);
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
