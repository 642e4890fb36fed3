// What is asked of a choice of nodes, what there is to choose from, and what was chosen.

import type { Machine } from "../machine/machine.ts";

export type Floor = Pick<Machine, "groups" | "cells" | "conformanceCount" | "congestion">;

/** What there is, without the nodes required by name. */
export interface Supply {
  readonly cells: Int32Array;
  /** By cell number; only those in `cells` are read. */
  readonly counts: Int32Array;
  readonly total: number;
}

export interface Ask {
  /** Nodes beside the required ones. */
  readonly atLeast: number;
  readonly atMost: number;
  /** No more groups than `atLeast` needs, however many nodes more could be had. */
  readonly tight: boolean;
  readonly maxGroups: number;
  /** All of one known conformance value, or none. */
  readonly alike: boolean;
  /** How many nodes are required by name. */
  readonly required: number;
  /** Groups of the required nodes, each once. */
  readonly forced: readonly number[];
  /** Conformance values of the required nodes, each once. */
  readonly forcedConformance: readonly number[];
  /** Makes no claim to quiet and neighbouring groups. */
  readonly modest: boolean;
  /** Cells without the most wanted kinds, to be tried first where that costs no group more. */
  readonly tiers: readonly Int32Array[];
  /** By kind: higher is better; null: all the same. */
  readonly kindMerit: Float64Array | null;
  /** By kind: how much is to spare; null: it is not to be packed. */
  readonly packing: Int32Array | null;
}

export interface Part {
  readonly cell: number;
  readonly count: number;
}
