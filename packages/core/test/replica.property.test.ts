// Replicas of one log agree, also when one is restored from a snapshot on the way.

import {
  applyEntry,
  beginRestore,
  type Command,
  canonical,
  createState,
  decodeEntry,
  type Entry,
  encodeEntry,
  type State,
  snapshotLines,
  stateHash,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryFor, sha256 } from "./support/cluster.ts";
import { commandFor, dice, SET_UP } from "./support/history.ts";

const RUNS = 1000;
/** Without bias: small numbers would choose the same commands over and over. */
const seeds = fc.noBias(fc.array(fc.integer(), { minLength: 20, maxLength: 60, size: "max" }));

/** Entries of one to three commands; each is applied to `state` as it is made. */
function* entries(history: readonly number[], state: State): Iterable<Entry> {
  const past: Command[] = [];
  let at = 1_000_000;
  const apply = (commands: readonly Command[]): Entry => {
    const entry = freeze(entryFor(state, at, commands));
    applyEntry(state, entry);
    return entry;
  };
  yield apply(SET_UP);
  for (let i = 0; i < history.length; ) {
    const roll = dice(~(history[i] ?? 0));
    at += roll(40) === 0 ? 90_000_000 : roll(3) * 2000;
    const batch = history.slice(i, i + 1 + roll(3)).map((seed) => commandFor(seed, state, past));
    i += batch.length;
    past.push(...batch);
    yield apply(batch);
  }
}

describe("replicas", () => {
  it("agree at every index, over the wire and through a snapshot (S8)", () => {
    let compared = 0;
    let restored = 0;
    fc.assert(
      fc.property(seeds, fc.nat(), (history, when) => {
        const leader = createState();
        const follower = createState();
        let late: State | null = null;
        for (const entry of entries(history, leader)) {
          const text = encodeEntry(entry);
          const applied = applyEntry(follower, decodeEntry(text));
          if (late !== null && canonical(applyEntry(late, decodeEntry(text))) !== canonical(applied)) {
            throw new Error(`a restored replica answers otherwise at ${entry.index}`);
          }
          const hash = stateHash(leader, sha256);
          if (stateHash(follower, sha256) !== hash) throw new Error(`replicas differ at ${entry.index}`);
          if (late !== null && stateHash(late, sha256) !== hash)
            throw new Error(`restored one differs at ${entry.index}`);
          compared += 1;
          if (late !== null || entry.index < 2 + (when % 20)) continue;
          late = restore(snapshotLines(leader, sha256));
          restored += 1;
        }
        // Hashing from scratch must agree with hashing what changed.
        const fresh = restore(snapshotLines(leader, sha256));
        if (stateHash(fresh, sha256) !== stateHash(follower, sha256)) throw new Error("a fresh hash differs");
      }),
      { numRuns: RUNS },
    );
    expect(compared).toBeGreaterThan(12_000);
    expect(restored).toBeGreaterThan(500);
  }, 600_000);

  it("change nothing when a command is repeated (O4 to O7)", () => {
    let again = 0;
    fc.assert(
      fc.property(seeds, (history) => {
        const state = createState();
        applyEntry(state, entryFor(state, 1, SET_UP));
        for (const seed of history) {
          const command = commandFor(seed, state, []);
          const fromTheFuture = command.kind === "plan.commit" && command.basis > state.index;
          applyEntry(state, entryFor(state, 1, [command]));
          if (!ONCE.has(command.kind) || fromTheFuture) continue;
          const before = [...state.allocations(), ...state.nodes()];
          const { effects, events } = applyEntry(state, entryFor(state, 1, [command]));
          const after = [...state.allocations(), ...state.nodes()];
          const idle = effects.length === 0 && events.every((event) => event.kind === "placement_refused");
          const same = before.length === after.length && after.every((record, i) => record === before[i]);
          if (!idle || !same) throw new Error(`${command.kind} was carried out twice`);
          again += 1;
        }
      }),
      { numRuns: RUNS },
    );
    expect(again).toBeGreaterThan(10_000);
  }, 600_000);
});

/** Commands that a client sends again after a lost answer. */
const ONCE: ReadonlySet<Command["kind"]> = new Set([
  "attempt.report",
  "plan.commit",
  "allocation.requeue",
  "attempt.expire",
]);

function restore(lines: Iterable<string>): State {
  const reader = beginRestore(sha256);
  for (const line of lines) reader.line(line);
  return reader.finish();
}

/** No command may be changed by being applied: the log holds it. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value;
}
