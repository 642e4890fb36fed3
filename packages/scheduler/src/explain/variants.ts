// Variants of a request that may start sooner: fewer nodes, a shorter walltime, one constraint less. A trial decides
// whether a variant helps.

import { duration } from "@lattice/core";
import { WALLTIME_GRACE } from "../base/bounds.ts";
import type { PendingInput } from "../input/cycle-input.ts";
import { relaxations } from "./constraint-texts.ts";
import { durationText, nodesText } from "./text.ts";

export interface Variant {
  readonly kind: "nodes" | "walltime" | "constraint";
  readonly text: string;
  /** By field of the submission. */
  readonly change: Readonly<Record<string, string>>;
  readonly pending: PendingInput;
}

/** Returns the request with fewer nodes, but still up to the same maximum. */
export function withNodes(pending: PendingInput, nodes: number): Variant {
  const { maxNodes } = pending;
  const range = nodes === maxNodes ? String(nodes) : `${nodes}-${maxNodes}`;
  const change: Record<string, string> = { nodes: range };
  return {
    kind: "nodes",
    text: `${nodesText(nodes)} instead of ${pending.minNodes}`,
    change,
    pending: { ...pending, minNodes: nodes },
  };
}

export function withWalltime(pending: PendingInput, walltime: number): Variant {
  const before = pending.walltime === null ? "no limit" : durationText(pending.walltime);
  return {
    kind: "walltime",
    text: `a walltime of ${durationText(walltime)} instead of ${before}`,
    change: { walltime: `${Math.floor(walltime / 1000)}s` },
    pending: { ...pending, walltime: duration(walltime) },
  };
}

/** Returns the request without each of its constraints. */
export const withoutConstraints = (pending: PendingInput): Variant[] =>
  relaxations(pending.constraints)
    .slice(0, CONSTRAINT_LIMIT)
    .map(({ field, text, constraints }) => ({
      kind: "constraint",
      text,
      change: { [`constraints.${field}`]: "" },
      pending: { ...pending, constraints },
    }));

/** Variants are tried one by one. */
const CONSTRAINT_LIMIT = 12;

/** Returns walltimes that end before each of these instants, longest first, in whole minutes or seconds. */
export function walltimesBefore(now: number, instants: readonly number[], walltime: number | null): number[] {
  const found = new Set<number>();
  for (const instant of instants) {
    const timeline = instant - now - WALLTIME_GRACE;
    const unit = timeline >= 120_000 ? 60_000 : 1_000;
    const whole = Math.floor(timeline / unit) * unit;
    if (whole >= LEAST_WALLTIME && (walltime === null || whole < walltime)) found.add(whole);
  }
  return [...found].sort((a, b) => b - a).slice(0, WALLTIME_LIMIT);
}

/** Shorter walltimes are not suggested. */
const LEAST_WALLTIME = 10_000;
/** Variants are tried one by one, longest first. */
const WALLTIME_LIMIT = 8;
