// Checks a vCluster's policy.

import { isCount, type Problems } from "../checks.ts";
import { checkPreemptionClass, checkWalltime } from "../spec/check.ts";
import { MAX_NODES } from "../spec/limits.ts";
import { type Lending, MAX_VICTIMS, type Preemptible } from "./lending.ts";
import type { Factor, SchedulerKind, VCluster } from "./vcluster.ts";

const MAX_VCLUSTER_DESCRIPTION_LENGTH = 1024;
/** Only ratios matter, so a weight of a thousand is plenty. */
const MAX_WEIGHT_MILLI = 1_000_000;
/** An hour: an idle cycle is cheap, and bounds the delay after a lost wake-up. */
const MAX_CYCLE_INTERVAL_MS = 3600 * 1000;
/** Reservations cost time in every cycle. */
const MAX_BACKFILL_DEPTH = 10_000;

const FACTORS: Readonly<Record<Factor, true>> = {
  priority: true,
  wait_time: true,
  fair_share: true,
  topology: true,
  data_readiness: true,
  backlog: true,
  energy: true,
  checkpoint: true,
  conformance: true,
};

type Policy = Omit<VCluster, "id" | "createdAt" | "tenant" | "isDefault">;

/** An hour: a node that takes longer to return is not really lent. */
const MAX_RETURN_GRACE_MS = 3600 * 1000;

const PREEMPTIBLE: readonly Preemptible[] = ["always", "borrowed", "never"];

export function checkVCluster(problems: Problems, vcluster: Policy): void {
  const { description, weights, cycleInterval, backfillDepth, defaultWalltime, maxWalltime } = vcluster;
  problems.text("description", description, MAX_VCLUSTER_DESCRIPTION_LENGTH);
  for (const factor of Object.keys(FACTORS) as Factor[]) {
    const good = isCount(weights[factor], 0, MAX_WEIGHT_MILLI);
    problems.unless(good, `weights.${factor}`, `must be from 0 to ${MAX_WEIGHT_MILLI / 1000}`);
  }
  const interval = isCount(cycleInterval, 1, MAX_CYCLE_INTERVAL_MS);
  problems.unless(interval, "cycle_interval_seconds", "must be more than zero and at most an hour");
  const depth = isCount(backfillDepth, 0, MAX_BACKFILL_DEPTH);
  problems.unless(depth, "backfill_depth", `must be a whole number from 0 to ${MAX_BACKFILL_DEPTH}`);
  checkSharing(problems, vcluster);
  checkWalltime(problems, "default_walltime_seconds", defaultWalltime);
  if (maxWalltime === null) return;
  checkWalltime(problems, "max_walltime_seconds", maxWalltime);
  problems.unless(defaultWalltime <= maxWalltime, "default_walltime_seconds", "must not be above max_walltime_seconds");
}

/** A day: use the setting for work that is never preempted instead. */
const MAX_NEAR_COMPLETION_MS = 24 * 3600 * 1000;

function checkSharing(problems: Problems, vcluster: Policy): void {
  const { preemptible, lending, borrows, sharesNodes, scheduler, nearCompletion = 0, maxVictims = 1 } = vcluster;
  const near = isCount(nearCompletion, 0, MAX_NEAR_COMPLETION_MS);
  problems.unless(near, "near_completion_threshold_seconds", "must not be negative or more than a day");
  problems.unless(isCount(maxVictims, 1, MAX_VICTIMS), "max_victims", `must be from 1 to ${MAX_VICTIMS}`);
  const known = preemptible === undefined || PREEMPTIBLE.includes(preemptible);
  problems.unless(known, "preemptible", `must be one of ${PREEMPTIBLE.join(", ")}`);
  const sensitive: SchedulerKind = "sensitive_reservation";
  const given: readonly (readonly [string, boolean])[] = [
    ["borrows", borrows === true],
    ["lending", (lending ?? null) !== null],
    ["preemptible", (preemptible ?? "never") !== "never"],
    ["shares_nodes", sharesNodes === true],
  ];
  const [field, shares] = given.find(([, is]) => is) ?? ["shares_nodes", false];
  problems.unless(scheduler !== sensitive || !shares, field, "is not for sensitive work");
  if (lending !== undefined && lending !== null) checkLending(problems, lending);
}

function checkLending(problems: Problems, { keepNodes, maxClass, maxDuration, returnGrace }: Lending): void {
  const range = `must be a whole number from 0 to ${MAX_NODES}`;
  problems.unless(isCount(keepNodes, 0, MAX_NODES), "lending.keep_nodes", range);
  checkPreemptionClass(problems, "lending.max_class", maxClass);
  if (maxDuration !== null) checkWalltime(problems, "lending.max_duration_seconds", maxDuration);
  const grace = isCount(returnGrace, 1000, MAX_RETURN_GRACE_MS);
  problems.unless(grace, "lending.return_grace_seconds", "must be from a second to an hour");
}
