// Random histories: whatever is asked in whatever order, the invariants hold.

import { applyEntry, type Command, createState } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryFor } from "./support/cluster.ts";
import { commandFor, dice, SET_UP } from "./support/history.ts";
import { createWitness, noWork } from "./support/witness.ts";

const RUNS = 2000;
/** Without bias: small numbers would choose the same commands over and over. */
const seeds = fc.noBias(fc.array(fc.integer(), { minLength: 20, maxLength: 80, size: "max" }));

describe("random histories", () => {
  it("keep S1, S2, O1, O4 to O7, E8, D8 and both state machines", () => {
    const work = noWork();
    fc.assert(
      fc.property(seeds, (history) => {
        const state = createState();
        const witness = createWitness(state, work);
        const past: Command[] = [];
        let at = 1_000_000;
        const apply = (command: Command): void => {
          witness.before(command);
          witness.after(command, applyEntry(state, entryFor(state, at, [command])));
        };
        for (const command of SET_UP) apply(command);
        for (const seed of history) {
          at += dice(seed)(3) * 2000;
          const command = commandFor(seed, state, past);
          past.push(command);
          apply(command);
        }
      }),
      { numRuns: RUNS },
    );
    // A history in which nothing happens proves nothing.
    expect(work.commands).toBeGreaterThan(60_000);
    expect(work.placed).toBeGreaterThan(4_000);
    expect(work.refused).toBeGreaterThan(5_000);
    expect(work.stale).toBeGreaterThan(2_000);
    expect(work.overQuota).toBeGreaterThan(500);
    expect(work.sensitive).toBeGreaterThan(200);
    expect(work.overPool).toBeGreaterThan(50);
    expect(work.completed).toBeGreaterThan(500);
    expect(work.failed).toBeGreaterThan(500);
    expect(work.cancelled).toBeGreaterThan(500);
    expect(work.requeued).toBeGreaterThan(200);
    expect(work.preempted).toBeGreaterThan(150);
    expect(work.checkpointing).toBeGreaterThan(150);
    expect(work.suspended).toBeGreaterThan(15);
    expect(work.borrowed).toBeGreaterThan(20);
    expect(work.archived).toBeGreaterThan(100);
    expect(work.repeated).toBeGreaterThan(1_000);
    expect(work.nodeMoves).toBeGreaterThan(5_000);
    expect(work.forwards).toBeGreaterThan(5_000);
    expect(work.backwards).toBeGreaterThan(500);
  }, 600_000);
});
