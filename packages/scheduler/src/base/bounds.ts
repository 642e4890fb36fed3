// The limits of a cycle, each with its reason. They are constants, not configuration: a site tunes weights and backfill
// depth.

import { duration } from "@lattice/core";

/** After its walltime an attempt gets SIGTERM and this long to end; no release is planned earlier. */
export const WALLTIME_GRACE = duration(30_000);

/** A node whose attempt has ended or is overdue is expected to be released within this time. */
export const OVERDUE_RELEASE = duration(30_000);

/** The number of reasons in a brief report; `reasonsFor` answers for any other allocation on demand. */
export const REASONS_LIMIT = 200;

/** The number of reasons and scores in a full report, in queue order. Expected starts have no limit. */
export const REPORT_LIMIT = 10_000;

/** With no free node, a longer queue is not ordered for a brief report: nothing could start. */
export const FULL_MACHINE_QUEUE_LIMIT = 1_000;

/**
 * Allocations tried on the nodes in one cycle. Allocations that wait for quota or can never fit are not counted, so
 * that they do not block the ones behind them.
 */
export const TRY_LIMIT = 10_000;

/** Attempts per cycle to start a job by moving reservations: each may search all nodes. */
export const MOVE_LIMIT = 32;

/** Longer queues exchange no starts: a small job fills the gap. */
export const EXCHANGE_QUEUE_LIMIT = 64;

/** Exchanged starts per cycle. */
export const EXCHANGE_LIMIT = 4;

/** Combinations tried per cycle for exchanges: each may search all waiting jobs. */
export const EXCHANGE_TRIAL_LIMIT = 16;

/** Instants tried for one reservation before the sweep tries less often. */
export const START_TRY_LIMIT = 1_000;

/** Waiting this long counts as one unit inside the logarithm of the wait factor. */
export const REFERENCE_WAIT = duration(3_600_000);

/** The shortest reference where waits are measured against walltimes. */
export const LEAST_REFERENCE_WAIT = duration(10_000);

/** The reference of an allocation without walltime. */
export const UNBOUNDED_REFERENCE_WAIT = duration(86_400_000);

/** Below this efficiency an allocation has no claim to quiet, adjacent groups. */
export const LOW_EFFICIENCY = 0.3;

/** Conformance values tried one by one, the most common first, before a placement may mix them. */
export const CONFORMANCE_LIMIT = 16;

/** Sets of hardware kinds tried before all of them, for requests that any kind would serve. */
export const TIER_LIMIT = 4;

/** Matches remembered across cycles. */
export const MATCH_LIMIT = 10_000;

/** Reservations of one vCluster, whatever its depth: each costs a search over the expected releases. */
export const RESERVATION_LIMIT = 512;

/** Allocations for which a cycle tries to preempt, the highest classes first. */
export const PREEMPT_TRY_LIMIT = 64;

/** Preemptions per cycle; the next cycle continues. */
export const PREEMPTION_LIMIT = 4;

/**
 * An allocation without checkpoints that was preempted this often runs to its end, except for owners of its nodes and
 * sensitive claims.
 */
export const PREEMPTION_COUNT_LIMIT = 5;

/** Sets of victims tried per cycle: each may search all nodes. */
export const PREEMPT_TRIAL_LIMIT = 64;

/** Freed nodes stay reserved for the allocation no longer than this: something else keeps it from starting. */
export const AWAIT_LIMIT = duration(300_000);

/** Subtracted from the score of a placement on borrowed nodes only, in thousandths. */
export const BORROWED_PENALTY = 100;
