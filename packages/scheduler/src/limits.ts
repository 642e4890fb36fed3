// Every bound of a cycle in one place, each with its reason. They are constants of the scheduler,
// not configuration: a site tunes weights and backfill depth, never these.

import type { Duration } from "@lattice/core";

/** After its walltime an attempt gets SIGTERM and this long to go; a release is planned no earlier. */
export const WALLTIME_GRACE = 30_000 as Duration;

/** A node whose attempt is over, or overdue, is expected back within this. */
export const EXPECTED_BACK_SOON = 30_000 as Duration;

/** Reasons given unasked in a brief report; `reasonsFor` answers for any other allocation on demand. */
export const REASONS_LIMIT = 200;

/** A full report gives so many reasons and scores, in order of the queue: nobody reads more. Expected starts it gives to all. */
export const REPORT_LIMIT = 10_000;

/** With no free node, a queue longer than this is not even ordered for a brief report: nothing could start. */
export const FULL_MACHINE_QUEUE_LIMIT = 1_000;

/**
 * Allocations that a cycle tries on the nodes. Those that wait for quota or can never fit are not
 * counted, so that they cannot keep the ones behind them from being tried.
 */
export const TRY_LIMIT = 10_000;

/** Tries per cycle to make room by moving reservations to other nodes: each may look at every node. */
export const MOVE_LIMIT = 32;

/** In longer queues nobody gives up a place: somebody small fills what is left. */
export const EXCHANGE_QUEUE_LIMIT = 64;

/** Places given up in one cycle. */
export const EXCHANGE_LIMIT = 4;

/** Fillings that a cycle tries for that: each may look at all who were left out. */
export const EXCHANGE_TRIAL_LIMIT = 16;

/** Instants at which a reservation is tried in full before it is given up as too hard to find. */
export const START_TRY_LIMIT = 1_000;

/** Waiting this long counts as one unit inside the logarithm of the wait factor. */
export const REFERENCE_WAIT = 3_600_000 as Duration;

/** Where waits are measured against walltimes: shorter ones count as this long. */
export const LEAST_REFERENCE_WAIT = 10_000 as Duration;

/** And those without a walltime as this long. */
export const UNBOUNDED_REFERENCE_WAIT = 86_400_000 as Duration;

/** Below this share an allocation has no claim to the best places. */
export const LOW_EFFICIENCY = 0.3;

/** Conformance groups tried one by one, largest first, before a placement may mix. */
export const ALIKE_LIMIT = 16;

/** Sets of kinds of hardware tried before all of them, for those that any kind would serve. */
export const TIER_LIMIT = 4;

/** Kinds of request remembered from cycle to cycle. */
export const MATCH_LIMIT = 10_000;

/** Reservations of one vCluster, whatever its depth: each costs a walk over the expected releases. */
export const RESERVATION_LIMIT = 512;

/** Allocations for which a cycle tries to make room, the highest classes first. */
export const PREEMPT_TRY_LIMIT = 64;

/** Allocations for which a cycle has others stopped; the next cycle goes on. */
export const PREEMPTION_LIMIT = 4;

/** Who takes no checkpoints and was stopped so often is let run to its end: owners of its nodes and sensitive claims go before it. */
export const MOST_STOPS = 5;

/** Sets of victims that a cycle tries: each may look at every node. */
export const PREEMPT_TRIAL_LIMIT = 64;

/** Nodes freed for somebody are kept for it no longer than this: whatever keeps it from starting is not they. */
export const AWAIT_LIMIT = 300_000 as Duration;

/** Taken from the score of a placement that is on borrowed nodes only: thousandths. */
export const BORROWED_PENALTY = 100;

/** By so much, in thousandths, another must score more before a promise gives way to it: promises are to be kept. */
export const PROMISE_MARGIN = 100;
