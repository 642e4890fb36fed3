// The request of one job as `choose` takes it, the supply to choose from, and the choice.

import type { HardwareTiers } from "../fit/demand.ts";
import type { JobShape } from "../fit/job.ts";
import { kindMerit } from "../fit/kind-merit.ts";
import { distinctNumbers } from "../machine/groups.ts";
import type { Machine } from "../machine/machine.ts";

export type ChoiceContext = Pick<Machine, "groups" | "cells" | "conformanceCount" | "congestion">;

/** The available nodes by cell, without the nodes required by name. */
export interface Supply {
  readonly cells: Int32Array;
  /** By cell number; valid only for the cells in `cells`. */
  readonly counts: Int32Array;
  readonly total: number;
}

export interface NodeRequest {
  /** Nodes in addition to the required ones. */
  readonly atLeast: number;
  readonly atMost: number;
  /** Never more groups than `atLeast` needs, even if more nodes were available. */
  readonly tight: boolean;
  readonly maxGroups: number;
  /** All nodes must have one known conformance value. */
  readonly sameConformance: boolean;
  /** How many nodes are required by name. */
  readonly required: number;
  /** Distinct groups of the required nodes. */
  readonly requiredGroups: readonly number[];
  /** Distinct conformance values of the required nodes. */
  readonly requiredConformance: readonly number[];
  /** The request has no claim to quiet, adjacent groups. */
  readonly isInefficient: boolean;
  /** Any arrangement of nodes will do, so the request may be packed. */
  readonly isUnarranged: boolean;
  /** Cells without the kinds in highest demand, tried first where that costs no additional group. */
  readonly tiers: readonly Int32Array[];
  /** By kind, higher is better; `null` when all kinds are equal. */
  readonly kindMerit: Float64Array | null;
  /** By kind, higher has more capacity; `null` when the vCluster does not pack. */
  readonly kindRanks: Int32Array | null;
}

/** How many nodes of a cell are taken. */
export interface CellCount {
  readonly cell: number;
  readonly count: number;
}

/** Builds the request of a job. The caller limits `atMost` to the headroom of the quota. */
export function toNodeRequest(
  machine: Machine,
  job: JobShape,
  atMost: number,
  tiers: HardwareTiers | null = null,
): NodeRequest {
  const { constraints } = job.input;
  const required = job.match.required ?? NONE;
  const tight = constraints.topology === "tight";
  const sameConformance = constraints.requireConformance === true;
  return {
    atLeast: job.nodesNeeded - required.length,
    atMost: atMost - required.length,
    tight,
    maxGroups: job.maxGroups,
    sameConformance,
    required: required.length,
    requiredGroups: required.length === 0 ? NONE : distinctNumbers(machine.groupOf, required),
    requiredConformance: required.length === 0 ? NONE : distinctNumbers(machine.conformanceOf, required),
    isInefficient: job.isInefficient,
    isUnarranged: !tight && !sameConformance && required.length === 0 && job.maxGroups === Number.POSITIVE_INFINITY,
    tiers: tiers === null ? [] : tiers.cellsFor(job.match.hardware),
    kindMerit: kindMerit(machine, constraints) ?? tiers?.merit ?? null,
    kindRanks: machine.kindRanks,
  };
}

const NONE: readonly number[] = [];
