// Random histories with dependencies, task groups and DAGs: nothing is queued before its time, every end
// is settled, and replicas agree, also when one is restored from a snapshot on the way.

import {
  applyEntry,
  beginRestore,
  type Command,
  canonical,
  createState,
  decodeEntry,
  encodeEntry,
  type State,
  snapshotLines,
  stateHash,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brokenInvariants } from "./invariants/broken-invariants.ts";
import { entryFor, sha256 } from "./support/cluster.ts";
import { flowCommandFor } from "./support/flow-history.ts";
import { createFlowWitness, noFlowWork } from "./support/flow-witness.ts";
import { dice, SET_UP } from "./support/history.ts";
import { createWitness, noWork } from "./support/witness.ts";

/** Without bias: small numbers would choose the same commands over and over. */
const seeds = fc.noBias(fc.array(fc.integer(), { minLength: 40, maxLength: 120, size: "max" }));

describe("random histories with flows", () => {
  it("queue nothing before its dependencies hold, and resolve every end (E2)", () => {
    const work = noWork();
    const flows = noFlowWork();
    fc.assert(
      fc.property(seeds, (history) => {
        const state = createState();
        const witness = createWitness(state, work);
        const flow = createFlowWitness(state, flows);
        const past: Command[] = [];
        let at = 1_000_000;
        const apply = (command: Command): void => {
          witness.before(command);
          const applied = applyEntry(state, entryFor(state, at, [command]));
          witness.after(command, applied);
          flow.after(applied);
        };
        for (const command of SET_UP) apply(command);
        for (const seed of history) {
          at += dice(seed)(3) * 2000;
          const command = flowCommandFor(seed, state, past);
          past.push(command);
          apply(command);
        }
      }),
      { numRuns: 250, endOnFailure: true },
    );
    // A history in which nothing happens proves nothing.
    expect(work.completed).toBeGreaterThan(40);
    expect(work.archived).toBeGreaterThan(100);
    expect(flows.released).toBeGreaterThan(100);
    expect(flows.skipped).toBeGreaterThan(100);
    expect(flows.elements).toBeGreaterThan(200);
    expect(flows.groupsEnded).toBeGreaterThan(50);
    expect(flows.dagsEnded).toBeGreaterThan(50);
    expect(flows.namesTaken).toBeGreaterThan(100);
  }, 600_000);

  it("give the same state on all replicas, over the wire and through a snapshot (S8)", () => {
    fc.assert(
      fc.property(seeds, fc.nat(), (history, when) => {
        const leader = createState();
        const follower = createState();
        let late: State | null = null;
        const past: Command[] = [];
        let at = 1_000_000;
        const apply = (commands: readonly Command[]): void => {
          const entry = entryFor(leader, at, commands);
          const text = encodeEntry(entry);
          applyEntry(leader, entry);
          const applied = applyEntry(follower, decodeEntry(text));
          if (late !== null && canonical(applyEntry(late, decodeEntry(text))) !== canonical(applied)) {
            throw new Error(`a restored replica answers otherwise at ${entry.index}`);
          }
          const hash = stateHash(leader, sha256);
          if (stateHash(follower, sha256) !== hash) throw new Error(`replicas differ at ${entry.index}`);
          if (late !== null && stateHash(late, sha256) !== hash) throw new Error(`restored differs at ${entry.index}`);
          if (late === null && entry.index > when % 60) late = restore(snapshotLines(leader, sha256));
        };
        apply(SET_UP);
        for (let n = 0; n < history.length; ) {
          const roll = dice(~(history[n] ?? 0));
          at += roll(3) * 2000;
          const batch = history.slice(n, n + 1 + roll(4)).map((seed) => flowCommandFor(seed, leader, past));
          n += batch.length;
          past.push(...batch);
          apply(batch);
          const broken = brokenInvariants(leader);
          if (broken.length > 0) throw new Error(broken.join("; "));
        }
        const fresh = restore(snapshotLines(leader, sha256));
        expect(stateHash(fresh, sha256)).toBe(stateHash(follower, sha256));
      }),
      { numRuns: 100, endOnFailure: true },
    );
  }, 600_000);
});

function restore(lines: Iterable<string>): State {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finish();
}
