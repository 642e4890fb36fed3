// What is kept from cycle to cycle changes nothing: at every moment of a random history a snapshot that was
// brought up to date says what one made anew says, and its cycle decides the same.

import { instant, type NodeId } from "@lattice/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type CycleInput, createReuse, cycle, type Reservation, snapshotFor } from "../src/index.ts";
import { machineOf } from "../src/machine/machine.ts";
import { createHistory, someStep, VCLUSTER } from "./history.ts";

const byAllocation = (input: CycleInput) =>
  [...input.releases].sort((a, b) => (a.allocation + a.nodes[0] < b.allocation + b.nodes[0] ? -1 : 1));

it("decides the same with what the cycle before has left", () => {
  let placed = 0;
  let reserved = 0;
  fc.assert(
    fc.property(fc.array(someStep, { minLength: 5, maxLength: 40 }), fc.integer({ min: 0, max: 6 }), (steps, depth) => {
      const history = createHistory(12, depth);
      const reuse = createReuse();
      let previous: readonly Reservation[] = [];
      for (const step of steps) {
        history.step(step);
        const vcluster = history.state.vcluster(VCLUSTER);
        if (vcluster === undefined) throw new Error("no vCluster");
        const now = instant(history.now());
        const away = step.what === "wait" ? step.pick % 12 : -1;
        const reachable = (node: NodeId): boolean => Number(node.slice(1)) !== away;
        const beyond = { previous, report: step.kind % 2 === 0 ? ("none" as const) : ("full" as const) };
        const anew = snapshotFor(history.state, vcluster, now, reachable, beyond);
        const kept = snapshotFor(history.state, vcluster, now, reachable, { ...beyond, reuse });
        expect(kept.nodes).toEqual(anew.nodes);
        expect(kept.pending).toEqual(anew.pending);
        expect(kept.tenants).toEqual(anew.tenants);
        expect(byAllocation(kept)).toEqual(byAllocation(anew));
        expect(machineOf(kept).availableFrom).toEqual(machineOf(anew).availableFrom);
        const wanted = cycle(anew);
        const got = cycle(kept);
        expect(got.placements).toEqual(wanted.placements);
        expect(got.reservations).toEqual(wanted.reservations);
        expect(got.estimates).toEqual(wanted.estimates);
        expect(got.scores).toEqual(wanted.scores);
        previous = got.reservations;
        placed += got.placements.length;
        reserved += got.reservations.length;
        history.place(got.placements);
      }
    }),
    { numRuns: 60 },
  );
  expect(placed).toBeGreaterThan(100);
  expect(reserved).toBeGreaterThan(100);
});
