// How much happened in a run, and whether that is enough: a run in which nothing happened would pass every check.

import { missingFromHistories } from "./checks/acknowledged.ts";
import type { Cluster } from "./cluster.ts";
import { FAULT_KINDS } from "./faults/faults.ts";
import type { Violation } from "./world/world.ts";

export interface Report {
  readonly seed: number;
  readonly minutes: number;
  readonly kinds: readonly string[];
  readonly violation: Violation | null;
  /** Minimums that were not reached. */
  readonly tooLittle: readonly string[];
  readonly traceHash: string;
  readonly simulatedMinutes: number;
  readonly events: number;
  readonly elections: number;
  readonly starts: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
}

/** Minimum per simulated minute with faults; runs shorter than five minutes are not judged. */
const MIN_COMMANDS_PER_MINUTE = 60;
/** Minimums of user actions at their usual pace. */
const MIN_PER_MINUTE = { submitted: 8, starts: 12, completed: 4 } as const;
const JUDGED_FROM_MINUTES = 5;
/** Rare events may not occur at all in a short run. */
const WATCHED_FROM_MINUTES = 20;
/** Every enabled kind of fault must occur in a run of at least this length. */
const MIN_FAULTS_PER_MINUTE = 2;
/**
 * Minimum effects of connections, log and disks per hour: at most a fifth of the usual number. The last ones count
 * how often a fault had an effect, not how often it was tried.
 */
const MIN_PER_HOUR = {
  request_repeated: 10,
  request_late: 4,
  answer_lost: 5,
  proposal_repeated: 10,
  proposal_late: 5,
  append_repeated: 30,
  append_late: 3,
  append_stale: 4,
  report_repeated: 20,
  order_repeated: 40,
  order_lost: 5,
  stream_outlived: 5,
  agent_write_torn: 10,
  power_cut: 5,
  file_torn: 2,
  snapshot_torn: 1,
  history_torn: 2,
  late_append_fenced: 30,
  old_stream_heard: 5,
} as const;
const MIN_ELECTIONS = 2;

export const failed = (report: Report): boolean => report.violation !== null || report.tooLittle.length > 0;

interface Asked {
  readonly seed: number;
  readonly minutes: number;
  readonly kinds: readonly string[];
  readonly pace: number;
}

export function reportOf(cluster: Cluster, { seed, minutes, kinds, pace }: Asked): Report {
  const { world, ledger, users, truth } = cluster;
  const counts: Record<string, number> = {
    ...ledger.counts,
    submitted: users.counts.submitted,
    groups: users.counts.groups,
    dags: users.counts.dags,
    acknowledged: users.acknowledged.size,
    starts: truth.starts(),
    ...Object.assign(
      {},
      ...[
        ...users.groups,
        ...cluster.watchers,
        cluster.backfill,
        cluster.reservations,
        cluster.external.fabric,
        cluster.external.receiver,
      ].map((one) => one.counts),
    ),
    missingFromHistories: missingFromHistories(cluster),
  };
  const faults = Object.fromEntries([...cluster.faults].sort(([a], [b]) => (a < b ? -1 : 1)));
  const elections = cluster.elections();
  const leastPerHour = Object.assign({}, ...cluster.watchers.map((watcher) => watcher.leastPerHour));
  return {
    seed,
    minutes,
    kinds,
    violation: world.violation(),
    tooLittle:
      world.violation() === null ? shortages({ minutes, kinds, pace, counts, faults, elections, leastPerHour }) : [],
    traceHash: world.traceHash(),
    simulatedMinutes: Math.round(world.now() / 6_000) / 10,
    events: world.events(),
    elections,
    starts: truth.starts(),
    counts,
    faults,
  };
}

interface Happened extends Omit<Asked, "seed"> {
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly elections: number;
  /** Minimums of single checks. */
  readonly leastPerHour: Readonly<Record<string, number>>;
}

function shortages({ minutes, kinds, pace, counts, faults, elections, leastPerHour }: Happened): string[] {
  if (minutes < JUDGED_FROM_MINUTES) return [];
  const short: string[] = [];
  const need = (what: string, have: number, least: number): void => {
    if (have < least) short.push(`${what}: ${have}, at least ${Math.ceil(least)}`);
  };
  need("commands", counts.commands ?? 0, MIN_COMMANDS_PER_MINUTE * minutes);
  for (const [what, least] of Object.entries(MIN_PER_MINUTE)) need(what, counts[what] ?? 0, (least * minutes) / pace);
  if (kinds.length < FAULT_KINDS.length) return short;
  const struck = Object.values(faults).reduce((sum, n) => sum + n, 0);
  for (const [what, least] of minutes < WATCHED_FROM_MINUTES ? [] : Object.entries(leastPerHour))
    need(what, counts[what] ?? 0, Math.floor((least * minutes) / 60 / pace));
  need("faults", struck, MIN_FAULTS_PER_MINUTE * minutes);
  need("elections", elections, MIN_ELECTIONS);
  // In a short run some may be missing: only minimums of at least one apply.
  for (const [kind, least] of Object.entries(MIN_PER_HOUR))
    need(kind, faults[kind] ?? 0, Math.floor((least * minutes) / 60 / pace));
  return short;
}

export function describeReport(report: Report, cpuSeconds: number): string {
  const { seed, simulatedMinutes, counts, elections, faults, traceHash } = report;
  const speed = Math.round((simulatedMinutes * 60) / cpuSeconds);
  const perSecond = (counts.commands ?? 0) / (simulatedMinutes * 60);
  const figures = Object.entries(counts)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");
  const struck = Object.entries(faults)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");
  return [
    `seed ${seed}: ${simulatedMinutes} simulated minutes in ${cpuSeconds.toFixed(1)} s of one core (${speed} times real time, ${perSecond.toFixed(1)} commands a simulated second)`,
    `  ${figures}, elections ${elections}, events ${report.events}`,
    `  faults: ${struck === "" ? "none" : struck}`,
    `  trace ${traceHash}`,
  ].join("\n");
}
