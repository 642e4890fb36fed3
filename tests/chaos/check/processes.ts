// Compares what ran, as recorded by the processes themselves, with what the log permitted. An interval ends at the
// last sign of life, so a reported overlap is real; one shorter than the sampling interval may be missed.
import type { History, ProcessRun } from "../history.ts";
import type { Violation } from "./check.ts";
import type { Folded } from "./fold.ts";

export function checkProcesses({ runs, end, limits }: History, folded: Folded): Violation[] {
  return [
    ...startedTwice(runs),
    ...withoutPlacement(runs, folded),
    ...sharedNodes(runs),
    ...aboveQuota(runs, folded, limits.quotas),
    ...neverRan(runs, folded),
    ...end.left.map((detail): Violation => ({ rule: "left", detail })),
  ];
}

const keyOf = ({ allocation, attempt }: ProcessRun): string => `${allocation}.${attempt}`;
const nameOf = (run: ProcessRun): string => `${keyOf(run)} on ${run.node}`;

function startedTwice(runs: readonly ProcessRun[]): Violation[] {
  const counted = new Map<string, number>();
  for (const run of runs) counted.set(nameOf(run), (counted.get(nameOf(run)) ?? 0) + 1);
  return [...counted]
    .filter(([, times]) => times > 1)
    .map(([name, times]) => ({ rule: "twice", detail: `attempt ${name} was started ${times} times` }));
}

/** A later attempt exists only because an earlier one was withdrawn. */
function withoutPlacement(runs: readonly ProcessRun[], { placed, requeued }: Folded): Violation[] {
  return runs.flatMap((run): Violation[] => {
    if (placed.get(keyOf(run))?.has(run.node) !== true)
      return [{ rule: "twice", detail: `attempt ${nameOf(run)} ran there without being placed there` }];
    const before = `${run.allocation}.${run.attempt - 1}`;
    if (run.attempt > 1 && !requeued.has(before))
      return [{ rule: "twice", detail: `attempt ${nameOf(run)} ran though ${before} was never requeued` }];
    return [];
  });
}

function sharedNodes(runs: readonly ProcessRun[]): Violation[] {
  const found: Violation[] = [];
  const latest = new Map<string, ProcessRun>();
  for (const run of [...runs].sort((a, b) => a.startedAt - b.startedAt)) {
    const before = latest.get(run.node);
    if (before !== undefined && before.aliveUntil > run.startedAt && keyOf(before) !== keyOf(run)) {
      const ms = Math.min(before.aliveUntil, run.aliveUntil) - run.startedAt;
      found.push({
        rule: "owner",
        detail: `${keyOf(before)} and ${keyOf(run)} ran on ${run.node} together for ${ms} ms`,
      });
    }
    if (before === undefined || run.aliveUntil > before.aliveUntil) latest.set(run.node, run);
  }
  return found;
}

/**
 * An attempt withdrawn from a silent node may run there until the node reconnects; Lattice cannot count it. The fold
 * counts its claims entry by entry.
 */
function aboveQuota(
  runs: readonly ProcessRun[],
  { requeued }: Folded,
  quotas: ReadonlyMap<string, number>,
): Violation[] {
  return [...quotas].flatMap(([tenant, most]): Violation[] => {
    const own = runs.filter((run) => run.tenant === tenant && !requeued.has(keyOf(run)));
    const worst = Math.max(0, ...own.map(({ startedAt }) => nodesAt(own, startedAt)));
    return worst > most
      ? [{ rule: "quota", detail: `tenant ${tenant} ran on ${worst} nodes at once, of ${most}` }]
      : [];
  });
}

const nodesAt = (runs: readonly ProcessRun[], at: number): number =>
  new Set(runs.filter(({ startedAt, aliveUntil }) => startedAt <= at && aliveUntil > at).map(({ node }) => node)).size;

/** Completed means that it did its work on every node of its last attempt. */
function neverRan(runs: readonly ProcessRun[], { phases, placed, requeued }: Folded): Violation[] {
  const finished = new Set(runs.filter((run) => run.finished).map(nameOf));
  return [...placed].flatMap(([key, nodes]): Violation[] => {
    const phase = phases.get(key.slice(0, key.lastIndexOf(".")));
    if (phase !== "completed" || requeued.has(key)) return [];
    return [...nodes]
      .filter((node) => !finished.has(`${key} on ${node}`))
      .map((node) => ({ rule: "outcome", detail: `attempt ${key} counts as completed but did not finish on ${node}` }));
  });
}
