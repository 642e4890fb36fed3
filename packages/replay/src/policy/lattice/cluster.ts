// The replayed cluster: a real state that only `applyEntry` changes. A refusal in a replay is a bug of this program,
// not of the trace.

import {
  type AllocationId,
  type Applied,
  type Attempt,
  applyEntry,
  type Command,
  createState,
  ENTRY_VERSION,
  type Instant,
  instant,
  logIndex,
  type NodeId,
  type State,
  term,
} from "@lattice/core";
import type { Trace } from "../../trace/trace.ts";
import { machineCommands, tenantCommands } from "./commands.ts";
import type { LatticeSetup } from "./setup.ts";

export function createCluster(trace: Trace, setup: LatticeSetup): State {
  const state = createState();
  commit(state, 0, [...machineCommands(setup), ...tenantCommands(trace, setup.unit)]);
  return state;
}

/** Appends one entry at that second of the trace. */
export function commit(state: State, seconds: number, commands: readonly Command[]): Applied {
  const applied = applyEntry(state, {
    index: logIndex(state.index + 1),
    term: term(1),
    version: ENTRY_VERSION,
    at: atInstant(seconds),
    prevHash: "",
    commands,
  });
  for (const outcome of applied.outcomes) {
    if (outcome.kind === "rejected") throw new Error(`refused: ${outcome.refusal.detail}`);
    const refused = outcome.placements?.find((placement) => placement.refusal !== null);
    if (refused?.refusal) throw new Error(`placement of ${refused.allocation} refused: ${refused.refusal.detail}`);
  }
  return applied;
}

export const atInstant = (seconds: number): Instant => instant(Math.round(seconds * 1000));

interface Attempted {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly nodes: readonly NodeId[];
}

/** Adds the report of every node of an attempt, in the order of its nodes, which `apply` folds together. */
export function addReports(into: Command[], attempted: Attempted, result: "running" | "completed" | "stopped"): void {
  const { allocation, attempt, nodes } = attempted;
  const exitCode = result === "completed" ? 0 : null;
  const state = result === "stopped" ? "failed" : result;
  const reason = result === "stopped" ? result : null;
  for (const node of nodes) {
    into.push({ kind: "attempt.report", node, allocation, attempt, state, exitCode, reason, message: "" });
  }
}
