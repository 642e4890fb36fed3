// The incremental watch finds the same broken invariants as a full count: random histories are broken by one wrong
// record, in every known way, and both must report it, also when the watch has skipped entries.
// Under healthy histories it is silent (support/witness.ts).

import {
  type Allocation,
  applyEntry,
  attempt,
  type Command,
  createState,
  isPlaced,
  type Node,
  type State,
} from "@lattice/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { brokenInvariants } from "./invariants/broken-invariants.ts";
import { watchInvariants } from "./invariants/watch.ts";
import { entryFor } from "./support/cluster.ts";
import { flowCommandFor } from "./support/flow-history.ts";
import { type Dice, dice, pick, SET_UP } from "./support/history.ts";

type Sabotage = (state: State, roll: Dice) => void;

const someAllocation = (state: State, roll: Dice, such: (record: Allocation) => boolean = () => true) =>
  pick(roll, [...state.allocations()].filter(such));
const someNode = (state: State, roll: Dice, such: (node: Node) => boolean = () => true) =>
  pick(roll, [...state.nodes()].filter(such));

const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  "a claim is released too early"(state, roll) {
    const node = someNode(state, roll, ({ claims }) => claims.length > 0);
    if (node !== undefined) state.putNode({ ...node, claims: [] });
  },
  "a claim is not released"(state, roll) {
    const node = someNode(state, roll, ({ claims }) => claims.some(({ releasing }) => releasing));
    if (node !== undefined) state.putNode({ ...node, claims: node.claims.map((c) => ({ ...c, releasing: false })) });
  },
  "a node gets a second owner"(state, roll) {
    const node = someNode(state, roll, ({ claims }) => claims.length > 0);
    const [claim] = node?.claims ?? [];
    if (node === undefined || claim === undefined) return;
    state.putNode({ ...node, claims: [claim, { ...claim, attempt: attempt(claim.attempt + 1) }] });
  },
  "an attempt ends and its claims stay"(state, roll) {
    const record = someAllocation(state, roll, ({ phase }) => isPlaced(phase));
    if (record === undefined) return;
    state.putAllocation({ ...record, phase: { kind: "pending", since: state.at, cause: "policy" } });
  },
  "a requeue is not counted"(state, roll) {
    const record = someAllocation(state, roll);
    if (record !== undefined) state.putAllocation({ ...record, attempt: attempt(record.attempt + 2) });
  },
  "a record is removed"(state, roll) {
    const record = someAllocation(state, roll);
    if (record !== undefined) state.removeAllocation(record.id);
  },
  "a record changes behind the indexes"(state, roll) {
    const record = someAllocation(state, roll);
    const other = someAllocation(state, roll);
    if (record !== undefined && other !== undefined)
      state.tables.allocations.set(record.id, { ...record, phase: other.phase });
  },
  "a node changes behind the indexes"(state, roll) {
    const node = someNode(state, roll);
    const other = someNode(state, roll);
    if (node !== undefined && other !== undefined)
      state.tables.nodes.set(node.id, { ...node, state: other.state, claims: other.claims });
  },
  "a dependency is forgotten"(state, roll) {
    const record = someAllocation(state, roll, ({ unmet }) => unmet.length > 0);
    if (record !== undefined) state.putAllocation({ ...record, unmet: [] });
  },
  "a mutex name has a second holder"(state, roll) {
    const record = someAllocation(
      state,
      roll,
      ({ spec }) => spec.dependsOn?.some((e) => e.condition === "mutex") === true,
    );
    if (record === undefined) return;
    state.putAllocation({ ...record, unmet: [] });
  },
  "a group miscounts"(state, roll) {
    const group = pick(roll, [...state.groups()]);
    if (group !== undefined)
      state.putGroup({ ...group, counts: { ...group.counts, completed: group.counts.completed + 1 } });
  },
  "an element is marked wrongly"(state, roll) {
    const group = pick(roll, [...state.groups()]);
    const chunk = group === undefined ? undefined : state.tables.marks.get(`${group.id}/0`);
    if (group === undefined || chunk === undefined) return;
    state.putMarks({ ...chunk, marks: `x${chunk.marks.slice(1)}` });
    state.putGroup({ ...group });
  },
  "a dag misses an end"(state, roll) {
    const dag = pick(roll, [...state.dags()]);
    if (dag !== undefined) state.putDag({ ...dag, ends: dag.ends.replaceAll(/[^.]/g, ".") });
  },
  "a vcluster is the default, too"(state, roll) {
    const vcluster = pick(roll, [...state.vclusters()]);
    if (vcluster !== undefined) state.tables.vclusters.set(vcluster.id, { ...vcluster, isDefault: true });
  },
};

const histories = fc.noBias(fc.array(fc.integer(), { minLength: 30, maxLength: 90, size: "max" }));

it.each(Object.entries(SABOTAGES))(
  "the incremental watch reports the same broken invariants as a full count: %s",
  (_, sabotage) => {
    let noticed = 0;
    fc.assert(
      fc.property(histories, fc.integer(), fc.integer({ min: 1, max: 12 }), (history, seed, lookEvery) => {
        const state = createState();
        const watch = watchInvariants(state);
        const past: Command[] = [];
        let at = 1_000_000;
        for (const command of SET_UP) applyEntry(state, entryFor(state, at, [command]));
        history.forEach((step, n) => {
          at += dice(step)(3) * 2000;
          const command = flowCommandFor(step, state, past);
          past.push(command);
          applyEntry(state, entryFor(state, at, [command]));
          if (n % lookEvery === 0 && watch().length > 0) throw new Error("a healthy state is called broken");
        });
        sabotage(state, dice(seed));
        const counted = brokenInvariants(state);
        expect(watch().length > 0, counted.join("; ")).toBe(counted.length > 0);
        if (counted.length > 0) noticed += 1;
      }),
      { numRuns: 60, endOnFailure: true },
    );
    expect(noticed).toBeGreaterThan(1);
  },
);
