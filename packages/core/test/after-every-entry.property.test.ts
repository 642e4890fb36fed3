// Rules that hold after every entry of any history: the state hash survives a snapshot, no entry is applied twice, a
// rejected command changes nothing, claims do not overlap, quotas hold at each placement, and ids are never reused.

import {
  allocationMoves,
  applyEntry,
  beginRestore,
  type Command,
  createState,
  type PhaseKind,
  type State,
  snapshotLines,
  stateHash,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryFor, sha256 } from "./support/cluster.ts";
import { contentOf } from "./support/content.ts";
import { flowCommandFor } from "./support/flow-history.ts";
import { dice, SET_UP } from "./support/history.ts";

const seeds = fc.noBias(fc.array(fc.integer(), { minLength: 20, maxLength: 40, size: "max" }));

type Look = (state: State, command: Command, applied: ReturnType<typeof applyEntry>, before: string | null) => void;

/** Applies a history command by command. `look` gets the content before each command where it is asked for. */
function replay(history: readonly number[], look: Look, wantsContent = false): State {
  const state = createState();
  const past: Command[] = [];
  let at = 1_000_000;
  applyEntry(state, entryFor(state, at, SET_UP));
  for (const seed of history) {
    const roll = dice(~seed);
    at += roll(3) * 2000;
    const command = flowCommandFor(seed, state, past);
    past.push(command);
    const before = wantsContent ? contentOf(state) : null;
    look(state, command, applyEntry(state, entryFor(state, at, [command])), before);
  }
  return state;
}

function restored(state: State): State {
  const reader = beginRestore(sha256);
  for (const line of snapshotLines(state, sha256)) reader.line(line);
  return reader.finish();
}

describe("random histories", () => {
  it("a snapshot restores to the same hash, indexes and free nodes", () => {
    let compared = 0;
    fc.assert(
      fc.property(seeds, (history) => {
        replay(history, (state) => {
          const copy = restored(state);
          expect(stateHash(copy, sha256)).toBe(stateHash(state, sha256));
          expect(readers(copy)).toEqual(readers(state));
          compared += 1;
        });
      }),
      { numRuns: 25 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it("a rejected command changes nothing and causes no orders", () => {
    const codes = new Map<string, number>();
    fc.assert(
      fc.property(seeds, (history) => {
        replay(
          history,
          (state, command, { outcomes, effects }, before) => {
            const [outcome] = outcomes;
            // An answer under a request id is kept, so that it can be repeated.
            if (outcome?.kind !== "rejected" || ("origin" in command && command.origin.requestId !== null)) return;
            expect(effects.filter(({ kind }) => kind !== "archive")).toEqual([]);
            if (effects.length === 0) expect(contentOf(state), command.kind).toBe(before);
            codes.set(outcome.refusal.code, (codes.get(outcome.refusal.code) ?? 0) + 1);
          },
          true,
        );
      }),
      { numRuns: 60 },
    );
    expect(codes.size).toBeGreaterThan(8);
    expect([...codes.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThan(200);
  });

  it("the same entry is rejected, and the state stays the same", () => {
    fc.assert(
      fc.property(seeds, (history) => {
        const state = replay(history, () => undefined);
        const again = { ...entryFor(state, state.at, []), index: state.index };
        const before = stateHash(state, sha256);
        expect(() => applyEntry(state, again)).toThrow("does not follow");
        expect(() => applyEntry(state, { ...again, index: (state.index + 2) as never })).toThrow("does not follow");
        expect(() => applyEntry(state, entryFor(state, state.at - 1, []))).toThrow("stamped before");
        expect(stateHash(state, sha256)).toBe(before);
      }),
      { numRuns: 20 },
    );
  });

  it("exclusive claims are alone on their node, and shares fit into the node", () => {
    fc.assert(
      fc.property(seeds, (history) => {
        replay(history, (state) => {
          for (const { id, claims, capabilities } of state.nodes()) {
            if (claims.some(({ exclusive }) => exclusive)) expect(claims, id).toHaveLength(1);
            const cores = claims.reduce((sum, { share }) => sum + (share?.cpuCores ?? 0), 0);
            expect(cores).toBeLessThanOrEqual(capabilities.cpuCores);
            const owners = new Set(claims.map(({ tenant, vcluster }) => `${tenant} ${vcluster}`));
            expect(owners.size).toBeLessThanOrEqual(1);
          }
        });
      }),
      { numRuns: 150 },
    );
  });

  it("placements keep to the quota of their tenant", () => {
    let placed = 0;
    fc.assert(
      fc.property(seeds, (history) => {
        replay(history, (state, command, { outcomes }) => {
          const [outcome] = outcomes;
          if (command.kind !== "plan.commit" || outcome?.kind !== "accepted") return;
          for (const { allocation, refusal } of outcome.placements ?? []) {
            const record = refusal === null ? state.allocation(allocation) : undefined;
            if (record === undefined) continue;
            const { nodes, running } = state.usage(record.spec.tenant);
            const quota = state.tenant(record.spec.tenant)?.quota;
            placed += 1;
            expect(nodes).toBeLessThanOrEqual(quota?.maxNodes ?? Number.POSITIVE_INFINITY);
            expect(running).toBeLessThanOrEqual(quota?.maxConcurrentAllocations ?? Number.POSITIVE_INFINITY);
          }
        });
      }),
      { numRuns: 150 },
    );
    expect(placed).toBeGreaterThan(100);
  });

  it("ids are unique and ascending, and attempt numbers only grow", () => {
    fc.assert(
      fc.property(seeds, (history) => {
        const given = new Set<string>();
        const attempts = new Map<string, number>();
        replay(history, (state, command, { outcomes, events }) => {
          const [outcome] = outcomes;
          const makes = command.kind === "allocation.submit" || command.kind === "group.submit";
          if (makes && outcome?.kind === "accepted" && outcome.repeated !== true && outcome.id !== null) {
            expect(given.has(outcome.id)).toBe(false);
            given.add(outcome.id);
            expect(Number(outcome.id)).toBe(state.counters.nextAllocation - 1);
          }
          for (const event of events) {
            if (event.kind !== "allocation_changed") continue;
            expect(event.attempt).toBeGreaterThanOrEqual(attempts.get(event.allocation) ?? 0);
            attempts.set(event.allocation, event.attempt);
          }
        });
      }),
      { numRuns: 150 },
    );
  });
});

/** Views of readers beyond the records. */
const readers = (state: State): unknown => ({
  free: state.freeNodeCount,
  phases: (Object.keys(allocationMoves) as PhaseKind[]).map((kind) => state.phaseCount(kind)),
  placed: Array.from(state.placed(), ({ id }) => id),
  blocked: Array.from(state.blocked(), ({ id }) => id),
  held: Array.from(state.held(), ({ id }) => id),
  onHold: Array.from(state.onHold(), ({ id }) => id),
  awaiting: Array.from(state.awaiting(), ({ id }) => id),
  newest: Array.from(state.newest(null), ({ id }) => id),
  lowest: state.lowestPlacedClass,
  tenants: Array.from(state.tenants(), ({ id }) => [id, state.usage(id)]),
  vclusters: Array.from(state.vclusters(), ({ id }) => [
    id,
    Array.from(state.pending(id), (record) => record.id),
    state.claimedNodes(id),
    state.homeNodes(id),
    state.highestPendingClass(id),
  ]),
});
