// Folds the copied log again, independent of every server, and keeps what the rules need. The fold is the servers' own
// code; it shows that their states follow from the log alone.
import { createHash } from "node:crypto";
import { type Applied, applyEntry, createState, decodeEntry, type State, stateHash } from "@lattice/core";
import { brokenInvariants } from "../../../packages/core/test/invariants/broken-invariants.ts";
import type { LogEntry } from "../history.ts";

export interface Folded {
  /** Violations of the chain itself: gaps, wrong hashes, decreasing terms, broken invariants. */
  readonly broken: readonly string[];
  readonly lastIndex: number;
  readonly hashes: ReadonlyMap<number, string>;
  /** Allocations by the request that created them. */
  readonly byRequest: ReadonlyMap<string, readonly string[]>;
  readonly phases: ReadonlyMap<string, string>;
  /** The nodes of each attempt, by "allocation.attempt". */
  readonly placed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Withdrawn attempts, by "allocation.attempt". */
  readonly requeued: ReadonlySet<string>;
  readonly counts: { readonly commands: number; readonly elections: number; readonly requeues: number };
}

export interface FoldOptions {
  /** Indexes at which the state hash is needed. */
  readonly at: ReadonlySet<number>;
  /** Maximum nodes at once, by tenant. */
  readonly quotas: ReadonlyMap<string, number>;
}

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
/** A full recount after every entry would take longer than the run. */
const RECOUNT_EVERY = 16;

export function foldLog(log: readonly LogEntry[], { at, quotas }: FoldOptions): Folded {
  const state = createState();
  const notes = createNotes(quotas);
  let hash = "";
  let lastIndex = 0;
  for (const { index, bytes } of log) {
    const entry = decodeEntry(new TextDecoder().decode(bytes));
    if (index !== lastIndex + 1) notes.broken.push(`entry ${index} follows entry ${lastIndex}`);
    if (entry.prevHash !== hash) notes.broken.push(`entry ${index} does not continue the chain of hashes`);
    // Nothing after a break can be folded.
    if (notes.broken.length > 0) break;
    hash = sha256(bytes);
    lastIndex = index;
    notes.take(state, entry.term, entry.commands.length, applyEntry(state, entry));
    if (at.has(index)) notes.hashes.set(index, stateHash(state, sha256));
    if (index % RECOUNT_EVERY === 0) notes.recount(state);
  }
  if (notes.broken.length === 0) notes.recount(state);
  return { ...notes, lastIndex, counts: notes.counts() };
}

function createNotes(quotas: ReadonlyMap<string, number>) {
  const broken: string[] = [];
  const byRequest = new Map<string, string[]>();
  const phases = new Map<string, string>();
  const placed = new Map<string, Set<string>>();
  const requeued = new Set<string>();
  const terms = new Set<number>();
  let newestTerm = 0;
  let commands = 0;

  const take = (state: State, term: number, size: number, applied: Applied): void => {
    commands += size;
    terms.add(term);
    if (term < newestTerm) broken.push(`entry ${applied.index} is of term ${term}, after one of term ${newestTerm}`);
    newestTerm = Math.max(newestTerm, term);
    for (const { kind, allocation, attempt, from, to } of applied.events) {
      if (kind !== "allocation_changed" || allocation === undefined || to === undefined) continue;
      phases.set(allocation, to);
      const name = state.allocation(allocation)?.spec.name ?? "";
      if ((from ?? "") === "") byRequest.set(name, [...(byRequest.get(name) ?? []), allocation]);
      if (to === "pending" && (from ?? "") !== "" && from !== to) requeued.add(`${allocation}.${attempt ?? 0}`);
    }
    for (const effect of applied.effects) {
      if (effect.kind !== "run") continue;
      const key = `${effect.allocation}.${effect.attempt}`;
      placed.set(key, (placed.get(key) ?? new Set()).add(effect.node));
    }
    for (const tenant of state.tenants()) {
      const most = quotas.get(tenant.id);
      const { nodes } = state.usage(tenant.id);
      if (most !== undefined && nodes > most)
        broken.push(`after entry ${applied.index} tenant ${tenant.id} holds ${nodes} nodes of ${most}`);
    }
  };
  const recount = (state: State): void => {
    for (const sentence of brokenInvariants(state)) broken.push(`after entry ${state.index}: ${sentence}`);
  };
  const counts = () => ({ commands, elections: terms.size, requeues: requeued.size });
  return { broken, hashes: new Map<number, string>(), byRequest, phases, placed, requeued, take, recount, counts };
}
