// A log that ends before an entry that this server has applied is refused, also after a restart; another generation of
// the log, which a restore begins, is not.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Applied, type ClusterIdentity, instant, type LogIndex, logIndex, term } from "@lattice/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { openKnownEnd } from "../../src/state/known-end.ts";

const ID = "a".repeat(32);
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-known-end-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

/** A clock whose timers fire at once, and a replica that has applied all of a log. */
function open(
  end: number,
  identity: Partial<ClusterIdentity> | null = {},
  log = "a",
  awaited: (index: LogIndex) => Promise<void> | undefined = () => undefined,
) {
  const clock: Clock = {
    now: () => instant(0),
    worked: () => 0,
    turn: async () => undefined,
    after: (_wait, callback) => {
      callback();
      return () => undefined;
    },
  };
  const listeners: ((applied: Applied, bytes: Uint8Array) => void)[] = [];
  let index = logIndex(end);
  const known = openKnownEnd({
    dataDir: dir,
    clock,
    replica: {
      view: { identity: identity === null ? null : { id: ID, generation: 1, former: [], ...identity } },
      head: () => ({ index, term: term(1), hash: "", at: instant(0) }),
      chain: {
        at: (at) => ({ index: at, hash: at <= index ? log : "", termHash: "", keptFrom: 1 }),
        last: () => ({ index, hash: log, termHash: "" }),
      },
      onApplied(listener) {
        listeners.push(listener);
        return () => undefined;
      },
      waitFor: async (index) => awaited(index),
      failed: new Promise<never>(() => undefined),
    },
  });
  const apply = (next: LogIndex): void => {
    index = next;
    for (const listener of listeners) listener({} as Applied, new Uint8Array());
  };
  return { known, apply };
}

test("a longer log is accepted, and a shorter one is refused after a restart", async () => {
  const first = open(5);
  await first.known.refuseShorter(logIndex(5));
  first.apply(logIndex(9));
  await first.known.close();
  await open(9).known.refuseShorter(logIndex(9));
  await open(12).known.refuseShorter(logIndex(12));
  await expect(open(8).known.refuseShorter(logIndex(8))).rejects.toMatchObject({
    code: "log_lost",
    message: expect.stringMatching(/ends at entry 8, .* has applied entry 9.*--recover-from.*delete .*log-end\.json/),
  });
});

test("a log that holds another entry is refused after a restart, though it is longer", async () => {
  const first = open(5);
  first.apply(logIndex(9));
  await first.known.close();
  await expect(open(20, {}, "b").known.refuseShorter(logIndex(20))).rejects.toMatchObject({
    code: "log_lost",
    message: expect.stringMatching(/holds another entry 9 than this server has applied/),
  });
  await open(20, { generation: 2 }, "b").known.refuseShorter(logIndex(20));
});

test("an empty log is accepted at once: the cluster's identity decides about it", async () => {
  const first = open(5);
  first.apply(logIndex(9));
  await first.known.close();
  const never = new Promise<void>(() => undefined);
  const { known } = open(0, null, "a", (index) => (index > 0 ? never : undefined));
  await known.refuseShorter(logIndex(0));
});

test("a log to which others append meanwhile is accepted", async () => {
  const first = open(5);
  first.apply(logIndex(9));
  await first.known.close();
  const { known, apply } = open(4, {}, "a", () => {
    apply(logIndex(30));
    return undefined;
  });
  await known.refuseShorter(logIndex(20));
});

test("a log that got shorter while the server runs is refused", async () => {
  const { known, apply } = open(5);
  apply(logIndex(9));
  await expect(known.refuseShorter(logIndex(8))).rejects.toMatchObject({ code: "log_lost" });
});

test("the log of a restored backup may be shorter, and so may that of another cluster, which is refused elsewhere", async () => {
  const first = open(9);
  first.apply(logIndex(9));
  await first.known.close();
  await open(4, { generation: 2 }).known.refuseShorter(logIndex(4));
  await open(4, { id: "b".repeat(32) }).known.refuseShorter(logIndex(4));
  await open(0, null).known.refuseShorter(logIndex(0));
});

test("a missing or damaged file refuses nothing, and nothing is written before there is an identity", async () => {
  writeFileSync(join(dir, "log-end.json"), '{"index":');
  await open(1).known.refuseShorter(logIndex(1));
  rmSync(join(dir, "log-end.json"));
  const early = open(3, null);
  early.apply(logIndex(3));
  await early.known.close();
  expect(existsSync(join(dir, "log-end.json"))).toBe(false);
  const late = open(3);
  late.apply(logIndex(4));
  await late.known.close();
  expect(JSON.parse(readFileSync(join(dir, "log-end.json"), "utf8"))).toMatchObject({
    id: ID,
    generation: 1,
    index: 4,
  });
});
