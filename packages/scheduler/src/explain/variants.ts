// What could be asked for instead, so that it may start sooner: fewer nodes, a shorter walltime, one constraint
// less. Only what the allocation itself says is varied; whether a variant helps is for a trial to find out.

import type { Constraints, Duration } from "@lattice/core";
import type { PendingInput } from "../cycle-types.ts";
import { WALLTIME_GRACE } from "../limits.ts";
import { durationText, nodesText } from "./words.ts";

export interface Variant {
  readonly kind: "nodes" | "walltime" | "constraint";
  readonly text: string;
  /** By field of the submission. */
  readonly change: Readonly<Record<string, string>>;
  readonly pending: PendingInput;
}

/** Fewer nodes, but still up to as many as before. */
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
    pending: { ...pending, walltime: walltime as Duration },
  };
}

/** Each without one of its constraints. */
export function withoutConstraints(pending: PendingInput): Variant[] {
  const { constraints } = pending;
  const variants: Variant[] = [];
  const drop = (field: string, text: string, changed: Partial<Constraints>): void =>
    void variants.push({
      kind: "constraint",
      text,
      change: { [`constraints.${field}`]: "" },
      pending: { ...pending, constraints: { ...constraints, ...changed } },
    });
  if (constraints.gpuType !== "") drop("gpu_type", `any GPU instead of ${constraints.gpuType}`, { gpuType: "" });
  if (constraints.gpuCount > 0) {
    drop("gpu_count", "nodes without GPUs as well", { gpuType: "", gpuCount: 0 });
  }
  if (constraints.memoryBytes > 0) drop("memory_gb", "nodes with less memory as well", { memoryBytes: 0 });
  if (constraints.cpuCores > 0) drop("cpu_cores", "nodes with fewer cores as well", { cpuCores: 0 });
  for (const feature of constraints.features) {
    const features = constraints.features.filter((other) => other !== feature);
    drop("features", `nodes without the feature ${feature} as well`, { features });
  }
  if (constraints.topology === "tight") drop("topology", "nodes in any groups instead of few", { topology: "any" });
  if (constraints.requiredNodes.length > 0)
    drop("required_nodes", "other nodes than those required by name", { requiredNodes: [] });
  if (constraints.excludedNodes.length > 0) drop("excluded_nodes", "the excluded nodes as well", { excludedNodes: [] });
  if (constraints.requireConformance === true) {
    drop("require_conformance", "nodes of different fingerprints", { requireConformance: false });
  }
  if (constraints.requireUnifiedMemory === true) {
    drop("require_unified_memory", "nodes without unified memory as well", { requireUnifiedMemory: false });
  }
  if (pending.maxGroups !== undefined) {
    const { maxGroups, ...wider } = pending;
    const text = `more than ${maxGroups === 1 ? "one group" : `${maxGroups} groups`}`;
    variants.push({ kind: "constraint", text, change: { "constraints.max_groups": "" }, pending: wider });
  }
  return variants.slice(0, CONSTRAINT_LIMIT);
}

/** Tried one by one; a request with more of them is a test of the limits. */
const CONSTRAINT_LIMIT = 12;

/** Walltimes after which it is gone before each of these instants, longest first, in whole minutes or seconds. */
export function walltimesBefore(now: number, instants: readonly number[], walltime: number | null): number[] {
  const found = new Set<number>();
  for (const instant of instants) {
    const room = instant - now - WALLTIME_GRACE;
    const unit = room >= 120_000 ? 60_000 : 1_000;
    const whole = Math.floor(room / unit) * unit;
    if (whole >= LEAST_WALLTIME && (walltime === null || whole < walltime)) found.add(whole);
  }
  return [...found].sort((a, b) => b - a).slice(0, WALLTIME_LIMIT);
}

/** Nobody's work is done in less. */
const LEAST_WALLTIME = 10_000;
/** Tried one by one, longest first. */
const WALLTIME_LIMIT = 8;
