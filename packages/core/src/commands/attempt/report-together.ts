// Applies equal reports of all nodes of an attempt at once. One by one, an attempt of a thousand nodes would copy a
// list of a thousand a thousand times. Only the plain case is handled: any irregular report leaves all of them to the
// one-by-one path. State, outcomes and events are the same either way.

import type { Instant, NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { lastEndAfter } from "../../model/allocation/attempt-end.ts";
import { isPlaced, type NodeProgress, type PlacedPhase } from "../../model/allocation/phase.ts";
import { withUsage } from "../../model/allocation/usage.ts";
import { recordFault } from "../../transitions/node/faults.ts";
import type { Step } from "../../transitions/step.ts";
import type { ReportCommand } from "./report.ts";
import { aggregate, PROGRESS_RANK } from "./report.ts";

/** Any command of the log; this file reads reports only. */
interface AnyCommand {
  readonly kind: string;
}

const isReport = (command: AnyCommand | undefined): command is ReportCommand => command?.kind === "attempt.report";

/** Returns the outcomes of the reports that begin at `from`; null when they must be applied one by one. */
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
  const reportAt = inOrder(commands, from, phase.nodes, first) ?? reportsByNode(commands, from, count, first);
  const progress = reportAt === null ? null : progressOf(phase, reportAt, first);
  if (progress === null) return null;
  if (first.state === "completed" && step.state.indexes.faultyNodeCount > 0) {
    for (const node of phase.nodes)
      if (step.state.node(node)?.faults !== undefined) recordFault(step, { ...first, node }, phase);
  }
  const reported = { ...phase, progress };
  const ended =
    first.state === "completed" ? { ...reported, lastEndAt: lastEnd(step, phase, commands, from) } : reported;
  aggregate(step, withUsages(record, commands.slice(from, from + count).filter(isReport)), ended, first);
  const outcome = accepted(first.allocation);
  return new Array<Outcome>(count).fill(outcome);
}

/** In the order of the log, as one by one. */
const withUsages = (record: Allocation, reports: readonly ReportCommand[]): Allocation =>
  reports.reduce((counted, report) => withUsage(counted, report), record);

/** The commands from `from` are valid reports, one for each node. */
function lastEnd({ at }: Step, phase: PlacedPhase, commands: readonly AnyCommand[], from: number): Instant {
  let lastEndAt = lastEndAfter(phase, (commands[from] as ReportCommand).endedAt, at);
  for (let n = 1; n < phase.nodes.length; n += 1)
    lastEndAt = lastEndAfter({ lastEndAt }, (commands[from + n] as ReportCommand).endedAt, at);
  return lastEndAt;
}

/** The valid report of each node, in node order. */
type ReportLookup = (node: NodeId, at: number) => ReportCommand | undefined;

/** Fast path for reports in the order of the attempt's nodes; null otherwise. */
function inOrder(
  commands: readonly AnyCommand[],
  from: number,
  nodes: readonly NodeId[],
  first: ReportCommand,
): ReportLookup | null {
  for (let at = 0; at < nodes.length; at += 1) {
    const report = commands[from + at];
    if (!isAlike(report, first) || report.node !== nodes[at]) return null;
  }
  return (_node, at) => commands[from + at] as ReportCommand;
}

/** Whether two reports have the same attempt and effect. */
const isAlike = (
  command: AnyCommand | undefined,
  { allocation, attempt, state }: ReportCommand,
): command is ReportCommand =>
  isReport(command) &&
  command.allocation === allocation &&
  command.attempt === attempt &&
  command.state === state &&
  command.checkpoint === undefined;

/** Returns the reports by node; null when one concerns something else, or a node reports twice. */
function reportsByNode(
  commands: readonly AnyCommand[],
  from: number,
  count: number,
  first: ReportCommand,
): ReportLookup | null {
  const reportAt = new Map<NodeId, ReportCommand>();
  for (let at = from; at < from + count; at += 1) {
    const report = commands[at];
    if (!isAlike(report, first)) return null;
    reportAt.set(report.node, report);
  }
  return reportAt.size === count ? (node) => reportAt.get(node) : null;
}

/** Returns `null` when a node has not reported, or has reported this state before. */
function progressOf(
  { nodes, progress }: PlacedPhase,
  reportAt: ReportLookup,
  { state }: ReportCommand,
): readonly NodeProgress[] | null {
  const updated: NodeProgress[] = [];
  let same: NodeProgress | null = null;
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at];
    const report = node === undefined ? undefined : reportAt(node, at);
    const known = progress[at];
    if (report === undefined || known === undefined || PROGRESS_RANK[known.state] >= PROGRESS_RANK[state]) return null;
    const { exitCode, message } = report;
    if (same === null || same.exitCode !== exitCode || same.message !== message) same = { state, exitCode, message };
    updated.push(same);
  }
  return updated;
}
