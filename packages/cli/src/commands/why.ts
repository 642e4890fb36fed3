// `lattice why ID`: explains why an allocation is pending and what would start it sooner, or where and when it started.

import type { CheckpointDecision, CheckpointStatus, Explanation, QueuePosition } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToRead } from "../names/work-ids.ts";
import { type Paint, paintState } from "../output/paint.ts";
import { type Column, renderTable } from "../output/table.ts";
import { ABSENT, capitalise, clean, pad } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { soonerLines } from "./why/sooner.ts";

export function define(command: Command): void {
  command
    .argument("<id>", "allocation: its id, its name, or last")
    .option("--checkpoint", "explain the checkpoint broker's decision");
  command.action(async (word: string, flags: { readonly checkpoint?: boolean }) => {
    const context = await createContext(command);
    const { client, print, settings } = context;
    const id = await workToRead(context, word);
    if (flags.checkpoint === true) {
      const status = await client.getCheckpoint(id);
      return print.structured ? print.document(status) : print.lines(checkpointLines(status));
    }
    const explanation = await client.explain(id);
    if (print.structured) return print.document(explanation);
    if (settings.quiet) return print.line(explanation.summary);
    print.lines(whyLines(explanation, print.paint));
  });
}

function whyLines(explanation: Explanation, paint: Paint): string[] {
  const { id, state, summary, causes = [], tenant_limits = [], queue, placement } = explanation;
  const head = `Allocation ${id} is ${paintState(paint, state, capitalise(state))}. ${clean(summary)}`;
  return [
    head,
    ...section(
      "Causes",
      paint,
      causes.map(({ code, text }) => `${code}: ${clean(text)}`),
    ),
    ...section("Nodes", paint, nodeLines(explanation)),
    ...section("Queue", paint, queue === undefined ? [] : queueLines(queue, explanation)),
    ...section("Tenant", paint, tenant_limits.map(clean)),
    ...section("Start", paint, startLines(explanation)),
    ...section("Placement", paint, placement === undefined ? [] : placedLines(explanation)),
    ...section("Sooner", paint, state === "pending" ? soonerLines(explanation.suggestions ?? []) : []),
  ];
}

const section = (title: string, paint: Paint, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", paint("bold", title), ...lines.map((line) => `  ${line}`)];

function queueLines(queue: QueuePosition, { id }: Explanation): string[] {
  const { position = 1, length = 1, scores = {}, ahead = [] } = queue;
  const rows: ScoreRow[] = [
    ...ahead.map((one) => ({ who: one.allocation_id || "(hidden)", position: one.position, scores: one.scores ?? {} })),
    { who: id, position, scores },
  ];
  const left = position - 1 - ahead.length;
  const more = left > 0 ? [`and ${left} more ahead of it`] : [];
  return [
    `Position ${position} of ${length}.`,
    ...renderTable(scoreColumns(rows), rows).trimEnd().split("\n"),
    ...more,
  ];
}

function startLines(explanation: Explanation): string[] {
  const { state, queue, estimated_start, estimate_error_seconds, victims = [] } = explanation;
  if (state !== "pending") return [];
  const { reserved_start, reserved_nodes = [] } = queue ?? {};
  const lines: string[] = [];
  if (reserved_start !== undefined) {
    lines.push(
      `Reserved for ${localTime(reserved_start)} on ${reserved_nodes.length} nodes: ${listed(reserved_nodes)}.`,
    );
  } else if (estimated_start !== undefined) {
    const how = victims.length > 0 ? "its nodes are reserved" : "an estimate, nothing is reserved";
    lines.push(`Expected at ${localTime(estimated_start)}: ${how}.`);
  }
  if (estimate_error_seconds !== undefined) {
    lines.push(`Half of the recent estimates were right to within ${Math.round(estimate_error_seconds)} s.`);
  }
  return lines;
}

function placedLines({ placement }: Explanation): string[] {
  const { nodes = [], placed_at, started_at, waited_seconds = 0, scores = {}, attempt = 1 } = placement ?? {};
  const rows: ScoreRow[] = [{ who: `attempt ${attempt}`, position: 0, scores }];
  return [
    `Nodes: ${nodes.length === 0 ? ABSENT : listed(nodes)}.`,
    `Placed ${localTime(placed_at ?? started_at)}, after ${Math.round(waited_seconds)} s.`,
    ...(Object.keys(scores).length === 0 ? [] : renderTable(scoreColumns(rows), rows).trimEnd().split("\n")),
  ];
}

/** Longer lists of nodes are cut. */
const NAMED = 8;

function listed(nodes: readonly string[]): string {
  const more = nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : "";
  return `${nodes.slice(0, NAMED).map(clean).join(", ")}${more}`;
}

interface ScoreRow {
  readonly who: string;
  /** 0 outside a queue. */
  readonly position: number;
  readonly scores: Readonly<Record<string, number>>;
}

function scoreColumns(rows: readonly ScoreRow[]): readonly Column<ScoreRow>[] {
  const factors = new Set<string>();
  for (const { scores } of rows)
    for (const [factor, milli] of Object.entries(scores)) if (milli !== 0 && factor !== "total") factors.add(factor);
  return [
    ...(rows.some(({ position }) => position > 0)
      ? [{ header: "POSITION", value: ({ position }: ScoreRow) => String(position) }]
      : []),
    { header: "ALLOCATION", value: ({ who }) => clean(who) },
    { header: "SCORE", align: "right", value: ({ scores }) => thousandths(scores.total) },
    ...[...factors].map(
      (factor): Column<ScoreRow> => ({
        header: clean(factor).toUpperCase(),
        align: "right",
        value: ({ scores }) => thousandths(scores[factor]),
      }),
    ),
  ];
}

const thousandths = (milli = 0): string => (milli / 1000).toFixed(3);

function nodeLines({ nodes }: Explanation): string[] {
  if (nodes === undefined) return [];
  const {
    total = 0,
    needed = 0,
    matching = 0,
    free = 0,
    failed_constraints = [],
    in_use = [],
    other_in_use = 0,
    reserved = [],
  } = nodes;
  return [
    `${needed} needed; of ${total} nodes ${matching} can take it, ${free} of them free.`,
    ...failed_constraints.map(({ constraint, nodes: count }) => `${count} fail ${clean(constraint)}.`),
    ...in_use.map(({ allocation_id, user, tenant, nodes: count, until }) => {
      const whose = !allocation_id ? "another user's allocation" : `${allocation_id}${ownerText(user, tenant)}`;
      return `${count} busy with ${whose}, ${until === undefined ? "end unknown" : `until ${localTime(until)} at the latest`}.`;
    }),
    ...(other_in_use > 0 ? [`${other_in_use} more busy with others.`] : []),
    ...reserved.map(({ allocation_id, vcluster, nodes: count, starts_at }) => {
      const whose = allocation_id || (!vcluster ? "another user's allocation" : `vCluster ${clean(vcluster)}`);
      return `${count} free, but reserved for ${whose}, which starts at ${localTime(starts_at)}.`;
    }),
  ];
}

/** The server hides the names of other users, but not their tenant. */
function ownerText(user: string | undefined, tenant: string | undefined): string {
  const known = [user, tenant].flatMap((name) => (!name ? [] : clean(name)));
  return known.length === 0 ? "" : ` (${known.join(" of ")})`;
}

const VERDICTS: Readonly<Record<string, string>> = {
  take: "A checkpoint is taken now",
  wait: "No checkpoint is taken now",
  busy: "A checkpoint waits until the storage is less busy",
  storage_away: "No checkpoint can be taken: the storage is unavailable",
  not_asked: "Checkpoints are taken only before a preemption and on request (`lattice checkpoint`)",
  not_running: "A checkpoint cannot be taken in this state",
};

function checkpointLines(status: CheckpointStatus): string[] {
  const { mode = "none", decision, last, failure, current } = status;
  if (mode === "none") return ["No checkpoints: it was submitted without --checkpoint."];
  const lines: string[] = [];
  if (decision === undefined) lines.push("The broker has not evaluated it since its start.");
  else lines.push(`${VERDICTS[decision.verdict ?? ""] ?? decision.verdict}: ${decision.reason}.`);
  if (current !== undefined) {
    const far = current.percent === undefined ? "" : `, ${current.percent} %`;
    const put = (current.deferred_seconds ?? 0) > 0 ? `, deferred by ${current.deferred_seconds} s` : "";
    const done = `${current.nodes_done ?? 0} of ${current.nodes ?? 0} nodes are done`;
    lines.push(`Checkpoint ${current.number} is being taken (${current.cause}): ${done}${far}${put}.`);
  }
  if (last !== undefined) {
    const size = `${((last.bytes ?? 0) / 1e6).toFixed(1)} MB in ${(last.seconds ?? 0).toFixed(1)} s`;
    lines.push(`Resumes from checkpoint ${last.number} of ${localTime(last.at)} (${size}).`);
  }
  if (failure !== undefined) lines.push(`Checkpoint ${failure.number} failed: ${failure.message}.`);
  return decision === undefined ? lines : [...lines, "", ...figures(decision)];
}

/** In device-seconds: seconds of one GPU, or of one node without GPUs. */
function figures(decision: CheckpointDecision): string[] {
  const rows: readonly (readonly [string, number | undefined, string])[] = [
    ["Value", decision.value, "device-seconds saved"],
    ["  recompute_saved", decision.recompute_saved, failureText(decision)],
    ["  preemptability", decision.preemptability, "pending work of higher classes"],
    ["  backlog_relief", decision.backlog_relief, "the queue"],
    ["  walltime_risk", decision.walltime_risk, "risk of losing work at the walltime"],
    ["Cost", decision.cost, "device-seconds"],
    ["  write_time", decision.write_time, `${((decision.size_bytes ?? 0) / 1e9).toFixed(2)} GB`],
    ["  compute_waste", decision.compute_waste, `${decision.devices ?? 0} devices idle meanwhile`],
    ["  storage_cost", decision.storage_cost, "storing it"],
  ];
  return rows.map(([name, value = 0, about]) => `${pad(name, 20)}${value.toFixed(1).padStart(12)}  ${about}`);
}

function failureText({ failure_probability = 0, since_last_seconds = 0 }: CheckpointDecision): string {
  const since =
    since_last_seconds < 60 ? `${since_last_seconds.toFixed(0)} s` : `${(since_last_seconds / 60).toFixed(0)} min`;
  return `${since} since the last, failure probability ${(failure_probability * 100).toFixed(3)} %`;
}
