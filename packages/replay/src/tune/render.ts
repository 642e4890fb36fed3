// The result of a search: the front as a table and as a chart, and the best weights as a profile to deploy.

import { htmlTable, page } from "../report/page.ts";
import { type ChartFrame, chart, escapeXml, type Point, points } from "../report/svg.ts";
import { rounded } from "../result/json.ts";
import { table } from "../result/text.ts";
import { FACTORS } from "../weights/profile.ts";
import type { WeightCandidate } from "./candidate.ts";
import { frontOf } from "./front.ts";
import type { Objective } from "./objectives.ts";
import type { Trial } from "./search.ts";

interface Found {
  readonly trials: readonly Trial[];
  readonly objective: Objective;
  readonly against: Objective;
}

export function frontText({ trials, objective, against }: Found): string {
  const given = trials[0];
  const front = frontOf(trials);
  const shown = given === undefined || front.includes(given) ? front : [given, ...front];
  const head = `=== RM-Replay Tune: ${objective.title} against ${against.title}, ${trials.length} profiles tried ===\n`;
  const rows = shown.map((trial) => [
    `${front.includes(trial) ? "*" : " "} ${trial.candidate.name}`,
    objective.show(trial.costs[0]),
    against.show(trial.costs[1]),
    String(trial.candidate.backfillDepth),
    weightsText(trial.candidate),
  ]);
  const columns = ["  profile", objective.title, against.title, "depth", "weights w1..w9"];
  return `${head}${table([columns, ...rows])}* on the trade-off front: no other profile is better in both\n`;
}

export function frontJson({ trials, objective, against }: Found): string {
  const front = new Set(frontOf(trials));
  const fields = trials.map((trial) => ({
    name: trial.candidate.name,
    on_front: front.has(trial),
    [objective.title]: objective.show(trial.costs[0]),
    [against.title]: against.show(trial.costs[1]),
    costs: trial.costs.map((cost) => rounded(cost, 6)),
    backfill_depth: trial.candidate.backfillDepth,
    weights: Object.fromEntries(FACTORS.map((factor) => [factor, trial.candidate.weights[factor] / 1000])),
  }));
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** Returns a file for --weights. */
export function profileYaml(vcluster: string, { weights, backfillDepth }: WeightCandidate): string {
  const lines = FACTORS.map((factor) => `  ${factor}: ${(weights[factor] / 1000).toFixed(3)}`);
  return `${[`${vcluster}:`, ...lines, `  backfill_depth: ${backfillDepth}`].join("\n")}\n`;
}

export function frontHtml(found: Found): string {
  const { trials, objective, against } = found;
  const front = new Set(frontOf(trials));
  const most = (i: 0 | 1): number => Math.max(1e-9, ...trials.map((trial) => trial.costs[i]));
  const frame: ChartFrame = {
    title: "Trade-off",
    xLabel: `${objective.title}, better to the left (up to ${objective.show(most(0))})`,
    yLabel: `${against.title}, better below`,
    yMax: most(1),
    yText: against.show,
  };
  const all = trials.map((trial): Point => {
    const figures = `${objective.show(trial.costs[0])}, ${against.show(trial.costs[1])}`;
    const hint = `${trial.candidate.name}: ${figures}; ${weightsText(trial.candidate)}`;
    return { x: trial.costs[0] / most(0), y: trial.costs[1], hint, colour: front.has(trial) ? 0 : 5 };
  });
  const rows = [...front].map((trial) => [
    trial.candidate.name,
    objective.show(trial.costs[0]),
    against.show(trial.costs[1]),
    ...FACTORS.map((factor) => (trial.candidate.weights[factor] / 1000).toFixed(2)),
  ]);
  return page("RM-Replay: tuned weights", [
    `<p>${escapeXml(`${trials.length} profiles tried. Blue: no other profile is better in both.`)}</p>`,
    chart(frame, points(frame, all)),
    htmlTable([["profile", objective.title, against.title, ...FACTORS], ...rows]),
  ]);
}

const weightsText = ({ weights }: WeightCandidate): string =>
  FACTORS.map((factor) => (weights[factor] / 1000).toFixed(2)).join(" ");
