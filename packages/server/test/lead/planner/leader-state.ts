// A state with one vCluster, two nodes and pending work, with the log entries that listeners receive.

import {
  type Applied,
  applyEntry,
  type Command,
  copyLines,
  createState,
  ENTRY_VERSION,
  type Entry,
  encodeEntry,
  instant,
  logIndex,
  minimalSpec,
  type NodeId,
  type Placement,
  term,
  type VClusterId,
} from "@lattice/core";
import { sha256 } from "../../../src/state/replica/hash.ts";
import type { StateMark } from "../../../src/state/replica/hash-series.ts";
import { node, submitted, vcluster } from "../controllers/make.ts";

export const QUEUE = "batch" as VClusterId;
export const NODES = ["n1", "n2"] as NodeId[];
const EPOCH = 1_700_000_000_000;

export function leaderState() {
  const state = createState();
  const listeners = new Set<(applied: Applied, bytes: Uint8Array) => void>();
  let marks: readonly StateMark[] = [];
  const apply = (...commands: Command[]): Applied => {
    const index = logIndex(state.index + 1);
    const at = instant(EPOCH + index * 1_000);
    const entry: Entry = { index, term: term(1), version: ENTRY_VERSION, at, prevHash: "", commands };
    const applied = applyEntry(state, entry);
    for (const listener of listeners) listener(applied, new TextEncoder().encode(encodeEntry(entry)));
    return applied;
  };
  apply(vcluster(QUEUE), ...NODES.map(node));
  return {
    state,
    apply,
    /** Submits work for that many nodes. */
    submit(nodes = 1): void {
      const spec = minimalSpec({ resources: { minNodes: nodes, maxNodes: nodes } });
      const [outcome] = apply(submitted(spec)).outcomes;
      if (outcome?.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
    },
    commit: (placements: readonly Placement[]) =>
      apply({ kind: "plan.commit", vcluster: QUEUE, basis: state.index, placements }).outcomes[0],
    /** The next state hash that the replica reports is wrong. */
    mark: (mark: StateMark): void => {
      marks = [...marks, mark];
    },
    hash: sha256,
    replica: {
      view: state,
      copy: () => copyLines(state),
      onApplied(listener: (applied: Applied, bytes: Uint8Array) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      stateMarks: () => marks,
    },
    listeners: () => listeners.size,
    now: () => state.at,
  };
}
