// Checks the scaling of a reactive service.

import { isCount, isText, type Problems } from "../checks.ts";
import { MAX_NODES } from "./limits.ts";
import { METRIC_FORM, parseMetric } from "./metric.ts";
import type { AllocationSpec, ScalePolicy } from "./spec.ts";

const MAX_METRIC_LENGTH = 512;
const MAX_TARGET_MILLI = 1_000_000_000_000;
/** A week: with longer times a service would never scale. */
const MAX_SPAN_MS = 7 * 24 * 3600 * 1000;
/** Metrics do not change more often. */
const MIN_INTERVAL_MS = 1_000;

export function checkScaling(problems: Problems, { lifecycle, resources }: AllocationSpec): void {
  const field = "allocation.lifecycle.scale_policy";
  const { kind, scale } = lifecycle;
  if (kind !== "reactive") {
    problems.unless(scale === undefined, field, "goes with a reactive lifecycle only");
    return;
  }
  if (scale === undefined) {
    problems.add(field, "is missing: a reactive service needs a scaling policy");
    return;
  }
  checkPolicy(problems, field, scale);
  // A service starts with its minimum.
  const begins = resources.minNodes === scale.minNodes && resources.maxNodes === scale.minNodes;
  problems.unless(begins, "allocation.resources.nodes", "must be absent: scale_policy sets the number of nodes");
}

function checkPolicy(problems: Problems, field: string, scale: ScalePolicy): void {
  const range = `must be a whole number from 1 to ${MAX_NODES}`;
  problems.unless(isCount(scale.minNodes, 1, MAX_NODES), `${field}.min`, range);
  problems.unless(isCount(scale.maxNodes, 1, MAX_NODES), `${field}.max`, range);
  const ordered = scale.minNodes <= scale.maxNodes;
  problems.unless(ordered, `${field}.min`, `must not be above max (${scale.minNodes} > ${scale.maxNodes})`);
  const named = scale.metric.trim() !== "" && isText(scale.metric, MAX_METRIC_LENGTH);
  problems.unless(named, `${field}.metric`, `must have 1 to ${MAX_METRIC_LENGTH} characters`);
  if (named) problems.unless(parseMetric(scale.metric) !== null, `${field}.metric`, METRIC_FORM);
  problems.unless(isCount(scale.targetMilli, 1, MAX_TARGET_MILLI), `${field}.target`, "must be a number above 0");
  const share = isCount(scale.downThresholdMilli, 1, 999);
  problems.unless(share, `${field}.scale_down_threshold`, "must be above 0 and below 1");
  const span = (name: string, ms: number, least: number): void =>
    problems.unless(isCount(ms, least, MAX_SPAN_MS), `${field}.${name}`, "must be from a second to a week");
  span("evaluation_interval_seconds", scale.evaluationInterval, MIN_INTERVAL_MS);
  span("scale_up_window_seconds", scale.upWindow, 0);
  span("scale_down_window_seconds", scale.downWindow, 0);
  span("cooldown_seconds", scale.cooldown, 0);
}
