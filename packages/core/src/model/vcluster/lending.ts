// The lending terms of a vCluster, and which running work may be preempted. Policies combine these settings into their
// rows.

import { type Duration, duration } from "../../base/ids.ts";

/** The running work that may be preempted: all of it, the work on borrowed nodes, or none. */
export type Preemptible = "always" | "borrowed" | "never";

/** The terms on which idle home nodes are lent to other vClusters. */
export interface Lending {
  /** The number of home nodes that are never lent, whether idle or not. */
  readonly keepNodes: number;
  /** The highest class that may borrow: below the owner's class, nodes can be reclaimed. */
  readonly maxClass: number;
  /** The longest walltime that may borrow; `null` when any may, unbounded work included. */
  readonly maxDuration: Duration | null;
  /** The grace when the owner reclaims a node. */
  readonly returnGrace: Duration;
}

/** Default: an allocation is not preempted in this last part of its walltime. */
export const NEAR_COMPLETION = duration(300_000);

/** Default: the most victims for one allocation. */
export const DEFAULT_MAX_VICTIMS = 3;
/** The upper bound for any vCluster: a preemption is decided, checked and carried out as a whole. */
export const MAX_VICTIMS = 64;

export const DEFAULT_LENDING: Lending = {
  keepNodes: 0,
  maxClass: 4,
  maxDuration: null,
  returnGrace: duration(30_000),
};
