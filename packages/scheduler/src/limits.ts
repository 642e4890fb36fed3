// Every bound of a cycle in one place, each with its reason. They are constants of the scheduler,
// not configuration: a site tunes weights and backfill depth, never these.

import type { Duration } from "@lattice/core";

/** After its walltime an attempt gets SIGTERM and this long to go; a release is planned no earlier. */
export const WALLTIME_GRACE = 30_000 as Duration;

/** A node whose attempt is over, or overdue, is expected back within this. */
export const EXPECTED_BACK_SOON = 30_000 as Duration;

/** Reasons given unasked; `reasonsFor` answers for any other allocation on demand. */
export const REASONS_LIMIT = 200;

/** With no free node, a queue longer than this is not even ordered: nothing could start. */
export const FULL_MACHINE_QUEUE_LIMIT = 1_000;

/**
 * Allocations that a cycle tries on the nodes. Those that wait for quota or can never fit are not
 * counted, so that they cannot keep the ones behind them from being tried.
 */
export const TRY_LIMIT = 10_000;

/** Waiting this long counts as one unit inside the logarithm of the wait factor. */
export const REFERENCE_WAIT = 3_600_000 as Duration;
