// The content of the log so far, learned from the first replica that applies an entry and compared with every other
// replica: the same index means the same state. Each entry is checked against every rule that applies to it.

import {
  type Allocation,
  type AllocationId,
  type Applied,
  allocationMoves,
  type Event,
  elementOf,
  isSensitive,
  type Node,
  type PhaseKind,
  type TaskGroup,
} from "@lattice/core";
import type { Replica } from "@lattice/server";
import { brokenInvariants } from "../../../packages/core/test/invariants/broken-invariants.ts";
import { watchInvariants } from "../../../packages/core/test/invariants/watch.ts";
import type { World } from "../world/world.ts";

export interface Ledger {
  /** A replica was restored: its state must be the one known at its index. */
  restored(who: string, replica: Replica): void;
  applied(who: string, replica: Replica, applied: Applied): void;
  /** Whether a claim of this attempt on this node has been committed. */
  wasPlaced(key: string, node: string): boolean;
  /** Everything once more, at the end. */
  checkAll(who: string, replica: Replica): void;
  won(term: number): void;
  readonly counts: Counts;
}

export interface Counts {
  entries: number;
  commands: number;
  refused: number;
  placements: number;
  requeues: number;
  preemptions: number;
  completed: number;
  failed: number;
  cancelled: number;
  nodesDegraded: number;
  nodesDown: number;
}

export interface LedgerLimits {
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly borrowedGraceMs: number;
}

/** Entries between two state comparisons. A difference persists, so a sample finds it. */
const COMPARE_EVERY = 8;
/**
 * Checks the changes of an entry on the first replica that applies it and compares the others by hash. A full
 * recount runs on each replica only now and then, because indexes are not part of the hash.
 */
const RECOUNT_EVERY = 64;

export function createLedger(
  world: World,
  limits: LedgerLimits,
  /** Receives every entry once, from the first replica that applies it. */
  learned: (replica: Replica, applied: Applied) => void,
): Ledger {
  const hashes = new Map<number, string>();
  let newestTerm = 0;
  /** The hash of each entry's own bytes, chained to the one before. */
  const chain: string[] = [];
  const placed = new Map<string, Set<string>>();
  const wonAt = new Map<number, number>();
  const named = new Map<string, AllocationId>();
  const phases = new Map<AllocationId, string>();
  const watches = new WeakMap<Replica, () => string[]>();
  const counts: Counts = {
    entries: 0,
    commands: 0,
    refused: 0,
    placements: 0,
    requeues: 0,
    preemptions: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    nodesDegraded: 0,
    nodesDown: 0,
  };

  function sameState(who: string, replica: Replica): void {
    const { index } = replica.head();
    const hash = replica.stateHash();
    const known = hashes.get(index);
    if (known === undefined) hashes.set(index, hash);
    else if (known !== hash) world.violated("S8", `${who} has another state at entry ${index} than others`);
  }

  function recount(who: string, replica: Replica): void {
    complain(who, replica, brokenInvariants(replica.view));
  }

  function lookAtChanges(who: string, replica: Replica): void {
    const watch = watches.get(replica) ?? watchInvariants(replica.view);
    watches.set(replica, watch);
    complain(who, replica, watch());
  }

  function complain(who: string, replica: Replica, sentences: readonly string[]): void {
    for (const broken of sentences) world.violated("S1", `${who} at ${replica.head().index}: ${broken}`);
  }

  function learn(replica: Replica, applied: Applied): void {
    counts.entries += 1;
    counts.commands += applied.outcomes.length;
    for (const outcome of applied.outcomes) if (outcome.kind === "rejected") counts.refused += 1;
    const { term, index } = replica.head();
    if (term < newestTerm)
      world.violated("fencing", `entry ${index} is of term ${term}, after one of term ${newestTerm}`);
    newestTerm = term;
    for (const event of applied.events) {
      if (event.kind === "allocation_changed" && event.allocation !== undefined)
        follow(replica, event.allocation, event.from ?? "", event.to ?? "");
      if (event.reason === "preempted" && event.allocation !== undefined) stopped(replica, event);
      // A node that registers again keeps its place.
      if (event.kind !== "node_changed" || event.from === event.to) continue;
      if (event.to === "degraded") judged(term, limits.timeoutMs, event.node ?? "");
      if (event.to === "down") {
        counts.nodesDown += 1;
        const node = event.node === undefined ? undefined : replica.view.node(event.node);
        if (node?.state.kind === "down" && node.state.cause === "silent")
          judged(term, limits.timeoutMs + graceOf(node), node.id);
      }
    }
    for (const effect of applied.effects) {
      if (effect.kind !== "run") continue;
      const key = `${effect.allocation}.${effect.attempt}`;
      const nodes = placed.get(key) ?? new Set();
      if (nodes.size === 0) counts.placements += 1;
      placed.set(key, nodes.add(effect.node));
    }
  }

  /** Legal moves only, and never out of a final phase (O5). */
  function follow(replica: Replica, id: AllocationId, from: string, to: string): void {
    const known = phases.get(id) ?? "";
    if (known !== from && from !== "") world.violated("O5", `allocation ${id} moves from ${from}, but was ${known}`);
    if (from === "" && known !== "") world.violated("O5", `allocation ${id} is new again as ${to}`);
    const legal = from === "" || from === to || (allocationMoves[from as PhaseKind] as readonly string[]).includes(to);
    if (!legal) world.violated("O5", `allocation ${id} moves from ${from} to ${to}`);
    phases.set(id, to);
    if (from === "") newcomer(replica.view.allocation(id) ?? replica.view.group(id), id);
    if (to === "pending" && from !== "" && from !== to) counts.requeues += 1;
    if (to === "completed" || to === "failed" || to === "cancelled") counts[to] += 1;
  }

  /** E1: only a higher class preempts, and class 10 is never preempted. */
  function stopped({ view }: Replica, { allocation, message = "" }: Event): void {
    counts.preemptions += 1;
    const [, id = "", output = "-1"] = /for allocation (\d+(?:_\d+)?) of class (\d+)/.exec(message) ?? [];
    const victim = allocation === undefined ? undefined : view.allocation(allocation);
    const other = victim?.spec.lifecycle.preemptionClass;
    // The preemptor may be gone by the time the victim has saved its work.
    const follower = view.allocation(id as AllocationId);
    // Sensitive work preempts everything, whatever its class.
    const sensitive = follower !== undefined && isSensitive(view, follower.spec.vcluster);
    const own = sensitive ? 10 : (follower?.spec.lifecycle.preemptionClass ?? Number(output));
    if (other === undefined || other >= own || other >= 7)
      world.violated("E1", `allocation ${allocation} of class ${other} was stopped for class ${own}: ${message}`);
  }

  /** One request creates one allocation, however often it is sent. */
  function newcomer(record: Allocation | TaskGroup | undefined, id: AllocationId): void {
    const name = record?.spec.name;
    // The elements of a group share one name.
    if (name === undefined || elementOf(id) !== null) return;
    const before = named.get(name);
    if (before !== undefined) world.violated("S7", `request ${name} made both ${before} and ${id}`);
    named.set(name, id);
  }

  /** The lending state is unknown here, because the claims were removed with the node. */
  const graceOf = ({ homeVCluster }: Node): number =>
    homeVCluster === null ? limits.graceMs : Math.min(limits.graceMs, limits.borrowedGraceMs);

  function judged(term: number, leastMs: number, node: string): void {
    counts.nodesDegraded += 1;
    const since = wonAt.get(term);
    if (since !== undefined && world.now() - since < leastMs) {
      world.violated(
        "D9",
        `${node} was judged ${world.now() - since} ms after term ${term} began, before ${leastMs} ms`,
      );
    }
  }

  return {
    counts,
    restored(who, replica) {
      if (replica.head().index > 0) sameState(who, replica);
    },
    applied(who, replica, applied) {
      const { index, hash } = replica.head();
      if (index % COMPARE_EVERY === 0) sameState(who, replica);
      const known = chain[index];
      if (known !== undefined) {
        if (known !== hash) world.violated("S8", `${who} has another entry ${index} than others`);
        if (index % RECOUNT_EVERY === 0) recount(who, replica);
        return;
      }
      chain[index] = hash;
      world.note(`entry ${index} ${hash}`);
      learn(replica, applied);
      learned(replica, applied);
      lookAtChanges(who, replica);
      if (index % RECOUNT_EVERY === 0) recount(who, replica);
    },
    checkAll(who, replica) {
      sameState(who, replica);
      recount(who, replica);
    },
    wasPlaced: (key, node) => placed.get(key)?.has(node) === true,
    won(term) {
      wonAt.set(term, world.now());
    },
  };
}
