// The report of `lattice why`, from the answer down to the figures: summary, causes, nodes, the queue with score factors
// side by side, the tenant, and finally what would start it sooner.

import type { Explanation, QueuePosition } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import { type Column, renderTable } from "../../output/table.ts";
import { ABSENT, capitalise, clean } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { soonerLines } from "./sooner.ts";

export function whyLines(explanation: Explanation, paint: Paint): string[] {
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
