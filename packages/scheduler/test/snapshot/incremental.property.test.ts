// Incremental updates change no result: at every step of a random history an updated snapshot equals one built from
// scratch, and its cycle decides the same.

import { instant, type NodeId } from "@lattice/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type CycleInput, createCycleCache, cycle, type Reservation, snapshotFor } from "../../src/index.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { createHistory, someStep, VCLUSTER } from "./history.ts";

const byAllocation = (input: CycleInput) =>
  [...input.releases].sort((a, b) => (a.allocation + a.nodes[0] < b.allocation + b.nodes[0] ? -1 : 1));

it("an updated snapshot and cache give the same decisions as new ones", () => {
  let placed = 0;
  let reserved = 0;
  fc.assert(
    fc.property(fc.array(someStep, { minLength: 5, maxLength: 40 }), fc.integer({ min: 0, max: 6 }), (steps, depth) => {
      const history = createHistory(12, depth);
      const cache = createCycleCache();
      let previous: readonly Reservation[] = [];
      for (const step of steps) {
        history.step(step);
        const vcluster = history.state.vcluster(VCLUSTER);
        if (vcluster === undefined) throw new Error("no vCluster");
        const now = instant(history.now());
        const away = step.what === "wait" ? step.pick % 12 : -1;
        const reachable = (node: NodeId): boolean => Number(node.slice(1)) !== away;
        const beyond = {
          previousReservations: previous,
          report: step.kind % 2 === 0 ? ("none" as const) : ("full" as const),
        };
        const fresh = snapshotFor(history.state, vcluster, now, reachable, beyond);
        const updated = snapshotFor(history.state, vcluster, now, reachable, { ...beyond, cache });
        expect(updated.nodes).toEqual(fresh.nodes);
        expect(updated.pending).toEqual(fresh.pending);
        expect(updated.tenants).toEqual(fresh.tenants);
        expect(byAllocation(updated)).toEqual(byAllocation(fresh));
        expect(machineOf(updated).availableFrom).toEqual(machineOf(fresh).availableFrom);
        const wanted = cycle(fresh);
        const got = cycle(updated);
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
