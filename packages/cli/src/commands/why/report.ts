// An explanation as a person reads it, from the answer down to the figures: the summary, every cause, the nodes, the
// queue with the score factors side by side, the tenant, and last what to do about it.

import type { Explanation, QueueStanding } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import { renderTable } from "../../output/table.ts";
import { ABSENT, capitalise, clean } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { nodeLines } from "./nodes.ts";
import { type ScoreRow, scoreColumns } from "./scores.ts";
import { soonerLines } from "./sooner.ts";

export function whyLines(told: Explanation, paint: Paint): string[] {
  const { id, state, summary, causes = [], tenant_state = [], queue, placed } = told;
  const head = `Allocation ${id} is ${paintState(paint, state, capitalise(state))}. ${clean(summary)}`;
  return [
    head,
    ...section(
      "Causes",
      paint,
      causes.map(({ code, text }) => `${code}: ${clean(text)}`),
    ),
    ...section("Nodes", paint, nodeLines(told)),
    ...section("Queue", paint, queue === undefined ? [] : queueLines(queue, told)),
    ...section("Tenant", paint, tenant_state.map(clean)),
    ...section("Start", paint, startLines(told)),
    ...section("Placement", paint, placed === undefined ? [] : placedLines(told)),
    ...section("Sooner", paint, state === "pending" ? soonerLines(told.sooner ?? []) : []),
  ];
}

const section = (title: string, paint: Paint, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", paint("bold", title), ...lines.map((line) => `  ${line}`)];

function queueLines(queue: QueueStanding, { id }: Explanation): string[] {
  const { position = 1, length = 1, scores = {}, ahead = [] } = queue;
  const place = `Place ${position} of ${length}.`;
  const rows: ScoreRow[] = [
    ...ahead.map((one) => ({ who: one.allocation_id ?? "(another's)", place: one.position, scores: one.scores ?? {} })),
    { who: id, place: position, scores },
  ];
  const left = position - 1 - ahead.length;
  const more = left > 0 ? [`and ${left} more ahead of it`] : [];
  return [place, ...renderTable(scoreColumns(rows), rows).trimEnd().split("\n"), ...more];
}

function startLines(told: Explanation): string[] {
  const { state, queue, estimated_start, estimate_error_seconds, making_room = [] } = told;
  if (state !== "pending") return [];
  const { reserved_start, reserved_nodes = [] } = queue ?? {};
  const lines: string[] = [];
  if (reserved_start !== undefined) {
    lines.push(
      `Reserved for ${localTime(reserved_start)} on ${reserved_nodes.length} nodes: ${listed(reserved_nodes)}.`,
    );
  } else if (estimated_start !== undefined) {
    const how = making_room.length > 0 ? "its nodes are held for it" : "an estimate, nothing is reserved";
    lines.push(`Expected at ${localTime(estimated_start)}: ${how}.`);
  }
  if (estimate_error_seconds !== undefined) {
    lines.push(`Half of the estimates of late were right to within ${Math.round(estimate_error_seconds)} s.`);
  }
  return lines;
}

function placedLines({ placed = {} }: Explanation): string[] {
  const { nodes = [], placed_at, started_at, waited_seconds = 0, scores = {}, attempt = 1 } = placed;
  const rows: ScoreRow[] = [{ who: `attempt ${attempt}`, place: 0, scores }];
  return [
    `Nodes: ${nodes.length === 0 ? ABSENT : listed(nodes)}.`,
    `Placed ${localTime(placed_at ?? started_at)}, after ${Math.round(waited_seconds)} s.`,
    ...(Object.keys(scores).length === 0 ? [] : renderTable(scoreColumns(rows), rows).trimEnd().split("\n")),
  ];
}

/** Named one by one; a list of thousands helps nobody. */
const NAMED = 8;

function listed(nodes: readonly string[]): string {
  const more = nodes.length > NAMED ? ` and ${nodes.length - NAMED} more` : "";
  return `${nodes.slice(0, NAMED).map(clean).join(", ")}${more}`;
}
