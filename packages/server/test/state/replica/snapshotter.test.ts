// When a snapshot is due: after a number of entries or bytes.

import type { Applied, LogIndex, Term } from "@lattice/core";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { ReplicatedLog } from "../../../src/log/contract/replicated-log.ts";
import type { History } from "../../../src/state/history/index.ts";
import type { Replica } from "../../../src/state/replica/replica.ts";
import { startSnapshotter } from "../../../src/state/replica/snapshotter.ts";

function rig(limits: { readonly everyEntries: number; readonly everyBytes: number }) {
  let index = 0;
  let bytes = 0;
  let listener: (applied: Applied) => void = () => {};
  const facts = { warm: true, proven: true, mayTake: true, fails: false };
  const taken: number[] = [];
  const replica = {
    appliedBytes: () => bytes,
    isWarm: () => facts.warm,
    isProven: () => facts.proven,
    snapshot: () => ({ at: { index: index as LogIndex, term: 1 as Term, hash: "", at: 0 }, lines: [] }),
    onApplied(each: (applied: Applied) => void) {
      listener = each;
      return () => {};
    },
  } as unknown as Replica;
  const log = {
    status: () => ({ snapshot: null }),
    async saveSnapshot(at: { readonly index: LogIndex }) {
      if (facts.fails) throw new Error("no room");
      taken.push(at.index);
      return { index: at.index, bytes: 1 };
    },
    truncate: async () => {},
  } as unknown as ReplicatedLog;
  const history = { flush: async () => {} } as unknown as History;
  const logger = pino({ level: "silent" });
  startSnapshotter({
    log,
    replica,
    history,
    audit: { flush: async () => {} },
    logger,
    ...limits,
    mayTake: () => facts.mayTake,
  });
  const apply = async (size: number): Promise<void> => {
    index += 1;
    bytes += size;
    listener({ index: index as LogIndex } as Applied);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { facts, taken, apply };
}

describe("a snapshot is taken", () => {
  it("only of a verified state", async () => {
    const { taken, apply, facts } = rig({ everyEntries: 1, everyBytes: 1 });
    facts.proven = false;
    await apply(10);
    expect(taken).toEqual([]);
    facts.proven = true;
    await apply(10);
    expect(taken).toEqual([2]);
  });

  it("after a number of entries of any size", async () => {
    const { taken, apply } = rig({ everyEntries: 3, everyBytes: 1_000 });
    for (let n = 0; n < 7; n += 1) await apply(1);
    expect(taken).toEqual([3, 6]);
  });

  it("after a number of bytes in any number of entries", async () => {
    const { taken, apply } = rig({ everyEntries: 1_000, everyBytes: 100 });
    for (let n = 0; n < 5; n += 1) await apply(60);
    expect(taken).toEqual([2, 4]);
  });

  it("for its bytes only when the state hash is up to date", async () => {
    const { facts, taken, apply } = rig({ everyEntries: 1_000, everyBytes: 100 });
    facts.warm = false;
    await apply(500);
    expect(taken).toEqual([]);
    facts.warm = true;
    await apply(1);
    expect(taken).toEqual([2]);
  });

  it("only where permitted, and again after a failure", async () => {
    const { facts, taken, apply } = rig({ everyEntries: 1_000, everyBytes: 100 });
    facts.mayTake = false;
    await apply(200);
    facts.mayTake = true;
    facts.fails = true;
    await apply(1);
    facts.fails = false;
    await apply(1);
    expect(taken).toEqual([3]);
  });
});
