// When every node of an attempt says the same in one entry, its progress is folded once instead of once per
// node, which for an attempt of a thousand nodes would be a thousand copies of a thousand. Only the plain
// case: whatever is out of the ordinary about one of the reports leaves them all to be taken one by one.
// The state, the outcomes and the events are the same either way.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted } from "../../base/outcome.ts";
import { isPlaced, type NodeProgress, type PlacedPhase } from "../../model/allocation/phase.ts";
import { recordFault } from "../../transitions/node/faults.ts";
import type { Step } from "../../transitions/step.ts";
import type { ReportCommand } from "./report.ts";
import { aggregate, PROGRESS_RANK } from "./report.ts";

/** Any command of the log; this file reads reports only. */
interface AnyCommand {
  readonly kind: string;
}

const isReport = (command: AnyCommand | undefined): command is ReportCommand => command?.kind === "attempt.report";

/** The outcomes of the reports that begin at `from`; null when they must be taken one by one. */
export function applyReportsTogether(
  step: Step,
  commands: readonly AnyCommand[],
  from: number,
): readonly Outcome[] | null {
  const first = commands[from];
  if (!isReport(first) || (first.state !== "running" && first.state !== "completed")) return null;
  const record = step.state.allocation(first.allocation);
  if (record === undefined || record.attempt !== first.attempt || !isPlaced(record.phase)) return null;
  if (record.phase.kind === "checkpointing") return null;
  const { phase } = record;
  if (phase.attempts !== undefined) return null;
  const count = phase.nodes.length;
  if (count < 2 || from + count > commands.length) return null;
  if (first.state === "completed" && phase.kind === "staging") return null;
  const said = inOrder(commands, from, phase.nodes, first) ?? wordOfEach(commands, from, count, first);
  const progress = said === null ? null : progressOf(phase, said, first);
  if (progress === null) return null;
  if (first.state === "completed" && step.state.indexes.faultyNodeCount > 0) {
    for (const node of phase.nodes)
      if (step.state.node(node)?.faults !== undefined) recordFault(step, { ...first, node }, phase);
  }
  aggregate(step, record, { ...phase, progress }, first);
  const outcome = accepted(first.allocation);
  return new Array<Outcome>(count).fill(outcome);
}

/** The report that counts for each of the attempt's nodes, in node order. */
type Said = (node: NodeId, at: number) => ReportCommand | undefined;

/** Where they speak in the order of the attempt's nodes nothing need be looked up; null when they do not. */
function inOrder(
  commands: readonly AnyCommand[],
  from: number,
  nodes: readonly NodeId[],
  first: ReportCommand,
): Said | null {
  for (let at = 0; at < nodes.length; at += 1) {
    const report = commands[from + at];
    if (!isAlike(report, first) || report.node !== nodes[at]) return null;
  }
  return (_node, at) => commands[from + at] as ReportCommand;
}

/** About the same attempt, to the same effect. */
const isAlike = (
  command: AnyCommand | undefined,
  { allocation, attempt, state }: ReportCommand,
): command is ReportCommand =>
  isReport(command) &&
  command.allocation === allocation &&
  command.attempt === attempt &&
  command.state === state &&
  command.checkpoint === undefined;

/** By node; null when one of them is about something else, or a node speaks twice. */
function wordOfEach(commands: readonly AnyCommand[], from: number, count: number, first: ReportCommand): Said | null {
  const said = new Map<NodeId, ReportCommand>();
  for (let at = from; at < from + count; at += 1) {
    const report = commands[at];
    if (!isAlike(report, first)) return null;
    said.set(report.node, report);
  }
  return said.size === count ? (node) => said.get(node) : null;
}

/** Returns `null` when a node has not reported, or has reported this state before. */
function progressOf(
  { nodes, progress }: PlacedPhase,
  said: Said,
  { state }: ReportCommand,
): readonly NodeProgress[] | null {
  const told: NodeProgress[] = [];
  let same: NodeProgress | null = null;
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at];
    const report = node === undefined ? undefined : said(node, at);
    const known = progress[at];
    if (report === undefined || known === undefined || PROGRESS_RANK[known.state] >= PROGRESS_RANK[state]) return null;
    const { exitCode, message } = report;
    if (same === null || same.exitCode !== exitCode || same.message !== message) same = { state, exitCode, message };
    told.push(same);
  }
  return told;
}
