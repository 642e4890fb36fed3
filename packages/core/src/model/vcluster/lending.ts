// On what terms a vCluster lends its idle nodes, and whose running work may be stopped: settings of the record,
// of which the policies make their rows.

import { type Duration, duration } from "../../base/ids.ts";

/** The running work that may be preempted: all of it, the work on borrowed nodes, or none. */
export type Preemptible = "always" | "borrowed" | "never";

/** On what terms idle home nodes are lent to other vClusters. */
export interface Lending {
  /** The number of home nodes that are never lent, whether idle or not. */
  readonly keepNodes: number;
  /** Work above this class does not borrow: below the owner's own class it can be reclaimed. */
  readonly maxClass: number;
  /** The longest walltime that may borrow; `null` when any may, unbounded work included. */
  readonly maxDuration: Duration | null;
  /** Between SIGTERM and SIGKILL when the owner takes a node back. */
  readonly returnGrace: Duration;
}

/** Within so much of its walltime an allocation is let finish, unless its vCluster says otherwise. */
export const NEAR_COMPLETION = duration(300_000);

/** More are not stopped for one allocation, unless its vCluster says otherwise: where more are in the way it waits. */
export const MAX_VICTIMS = 3;
/** Of any vCluster: a decision must be found, checked and carried out as one. */
export const MOST_VICTIMS = 64;

export const DEFAULT_LENDING: Lending = {
  keepNodes: 0,
  maxClass: 4,
  maxDuration: null,
  returnGrace: duration(30_000),
};
