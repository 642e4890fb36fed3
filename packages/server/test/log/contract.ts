// The contract of the log, run over every engine.

import { logIndex, type Term } from "@lattice/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ReplicatedLog, StoredEntry } from "../../src/log/contract/replicated-log.ts";
import { bytesOf, entries, fill, lead, linesOf, never, readThrough, textOf } from "./entries.ts";

export interface Harness {
  /** The log, or the log again after it was closed. Segments, where there are any, are small. */
  open(): Promise<ReplicatedLog>;
  /** Another candidate for the same log: another handle where there can be two, else the same one. */
  rival(log: ReplicatedLog): ReplicatedLog;
  damageNewestSnapshot(): Promise<void>;
  cleanUp(): Promise<void>;
}

const MAX_ENTRY_BYTES = 2048;

export function logContract(name: string, make: (maxEntryBytes: number) => Promise<Harness>): void {
  describe(`the log contract: ${name}`, () => {
    let harness: Harness;
    let log: ReplicatedLog;
    beforeEach(async () => {
      harness = await make(MAX_ENTRY_BYTES);
      log = await harness.open();
    });
    afterEach(async () => {
      await log.close();
      await harness.cleanUp();
    });

    describe("append and read", () => {
      test("entries are read back in order and unchanged", async () => {
        const leader = await lead(log);
        await log.append(leader, entries(leader.term, 1, "a", "b", "c"));
        await log.append(leader, entries(leader.term, 4, "", "déjà vu"));
        const read = await readThrough(log, 1, 5);
        expect(read.map(textOf)).toEqual(["a", "b", "c", "", "déjà vu"]);
        expect(read.map((entry) => entry.index)).toEqual([1, 2, 3, 4, 5]);
        expect(read.every((entry) => entry.term === leader.term)).toBe(true);
      });

      test("reading starts at the given index, also within a batch", async () => {
        const leader = await lead(log);
        await log.append(leader, entries(leader.term, 1, "a", "b", "c", "d"));
        expect((await readThrough(log, 3, 4)).map(textOf)).toEqual(["c", "d"]);
      });

      test("an empty append does nothing", async () => {
        const leader = await lead(log);
        await log.append(leader, []);
        expect(await log.head()).toBe(0);
      });

      test("an index that is not the next is refused and nothing is written", async () => {
        const leader = await lead(log);
        await log.append(leader, entries(leader.term, 1, "a"));
        for (const wrong of [1, 3, 0]) {
          await expect(log.append(leader, entries(leader.term, wrong, "x"))).rejects.toMatchObject({
            code: "wrong_index",
          });
        }
        const gap = [...entries(leader.term, 2, "b"), ...entries(leader.term, 4, "d")];
        await expect(log.append(leader, gap)).rejects.toMatchObject({ code: "wrong_index" });
        expect(await log.head()).toBe(1);
        await log.append(leader, entries(leader.term, 2, "b"));
        expect((await readThrough(log, 1, 2)).map(textOf)).toEqual(["a", "b"]);
      });

      test("an entry that is too large is refused with its whole batch", async () => {
        const leader = await lead(log);
        expect(log.maxEntryBytes).toBe(MAX_ENTRY_BYTES);
        const large = "x".repeat(MAX_ENTRY_BYTES + 1);
        await expect(log.append(leader, entries(leader.term, 1, "a", large))).rejects.toMatchObject({
          code: "too_large",
        });
        expect(await log.head()).toBe(0);
        await log.append(leader, entries(leader.term, 1, "x".repeat(MAX_ENTRY_BYTES)));
        expect(await log.head()).toBe(1);
      });

      test("concurrent appends are written in order", async () => {
        const leader = await lead(log);
        await Promise.all(
          Array.from({ length: 50 }, (_, n) => log.append(leader, entries(leader.term, n + 1, `e${n + 1}`))),
        );
        expect((await readThrough(log, 1, 50)).map(textOf)).toEqual(Array.from({ length: 50 }, (_, n) => `e${n + 1}`));
      });

      test("an append after a refused one is checked against the stored entries", async () => {
        const leader = await lead(log);
        const results = await Promise.allSettled([
          log.append(leader, entries(leader.term, 2, "no")),
          log.append(leader, entries(leader.term, 1, "yes")),
        ]);
        expect(results.map((result) => result.status)).toEqual(["rejected", "fulfilled"]);
      });

      test("reusing the author's buffer does not change stored entries", async () => {
        const leader = await lead(log);
        const bytes = bytesOf("stays");
        await log.append(leader, [{ index: logIndex(1), term: leader.term, bytes: Uint8Array.from(bytes) }]);
        log = await reopened(harness, log);
        expect((await readThrough(log, 1, 1)).map(textOf)).toEqual(["stays"]);
      });
    });

    describe("subscribe", () => {
      test("a reader at the end receives new entries", async () => {
        const leader = await lead(log);
        const reading = readThrough(log, 1, 3);
        await fill(log, leader, 1, 3);
        expect((await reading).map((entry) => entry.index)).toEqual([1, 2, 3]);
      });

      test("a reader may wait for a future index", async () => {
        const leader = await lead(log);
        const reading = readThrough(log, 4, 5);
        await fill(log, leader, 1, 5);
        expect((await reading).map((entry) => entry.index)).toEqual([4, 5]);
      });

      test("concurrent readers see each entry once, in order", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 20, 100);
        const last = 200;
        const readers = [1, 7, 20, 21, 60].map(async (from) => {
          const seen = (await readThrough(log, from, last)).map((entry) => entry.index);
          expect(seen).toEqual(Array.from({ length: last - from + 1 }, (_, n) => from + n));
        });
        await fill(log, leader, 21, last, 100);
        await Promise.all(readers);
      });

      test("aborting ends a waiting reader", async () => {
        const stop = new AbortController();
        const seen: StoredEntry[] = [];
        const reading = (async () => {
          for await (const batch of log.read(logIndex(1), stop.signal)) seen.push(...batch);
        })();
        stop.abort();
        await reading;
        expect(seen).toEqual([]);
      });
    });

    describe("leadership", () => {
      test("each term is one above the one before", async () => {
        const first = await lead(log);
        await first.resign();
        const second = await lead(log);
        expect(second.term).toBe(first.term + 1);
        expect(log.status()).toMatchObject({ term: second.term, leader: "server-1" });
      });

      test("a second candidate waits until the first resigns, which fences the first", async () => {
        const rival = harness.rival(log);
        const first = await lead(log, "one");
        await log.append(first, entries(first.term, 1, "a"));
        let second: Awaited<ReturnType<typeof lead>> | null = null;
        const waiting = lead(rival, "two").then((won) => {
          second = won;
        });
        await log.append(first, entries(first.term, 2, "b"));
        expect(second).toBeNull();
        expect(first.lost.aborted).toBe(false);

        await first.resign();
        expect(first.lost.aborted).toBe(true);
        await waiting;
        const won = second as unknown as Awaited<ReturnType<typeof lead>>;
        expect(won.term).toBeGreaterThan(first.term);
        await expect(log.append(first, entries(first.term, 3, "old"))).rejects.toMatchObject({
          code: "lost_leadership",
        });
        await rival.append(won, entries(won.term, 3, "new"));
        expect((await readThrough(rival, 1, 3)).map(textOf)).toEqual(["a", "b", "new"]);
        expect(rival.status().leader).toBe("two");
        if (rival !== log) await rival.close();
      });

      test("the end of the log in a leadership is correct", async () => {
        const first = await lead(log);
        expect(first.endsAt ?? 0).toBe(0);
        await log.append(first, entries(first.term, 1, "a", "b"));
        await first.resign();
        const second = await lead(log);
        expect(second.endsAt ?? (await log.head())).toBe(2);
        await log.append(second, entries(second.term, 3, "c"));
      });

      test("an append in flight at a resignation is written or refused as a whole", async () => {
        const leader = await lead(log);
        const appending = log.append(leader, entries(leader.term, 1, "a", "b")).then(
          () => 2,
          () => 0,
        );
        await leader.resign();
        expect(await log.head()).toBe(await appending);
      });

      test("an entry of another term is refused", async () => {
        const leader = await lead(log);
        const stale = entries((leader.term + 1) as Term, 1, "x");
        await expect(log.append(leader, stale)).rejects.toMatchObject({ code: "lost_leadership" });
      });

      test("a campaign can be aborted", async () => {
        await lead(log);
        const stop = new AbortController();
        const waiting = log.campaign("two", stop.signal);
        stop.abort(new Error("given up"));
        await expect(waiting).rejects.toThrow("given up");
        await expect(log.campaign("three", AbortSignal.abort(new Error("at once")))).rejects.toThrow("at once");
      });

      test("the members show the leader", async () => {
        expect((await log.members()).some((member) => member.leader)).toBe(false);
        await lead(log);
        expect((await log.members()).filter((member) => member.leader)).toMatchObject([{ healthy: true }]);
      });
    });

    describe("snapshots and truncation", () => {
      test("a snapshot is read back unchanged", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 3);
        expect(await log.loadSnapshot()).toBeNull();
        const lines = ["first", "", '{"ü":"✓"}', "x".repeat(100_000)];
        const info = await log.saveSnapshot({ index: logIndex(3), term: leader.term }, lines);
        expect(info).toMatchObject({ index: 3, term: leader.term });
        const loaded = await log.loadSnapshot();
        expect(loaded?.info).toEqual(info);
        expect(await linesOf(loaded?.lines ?? noLines())).toEqual(lines);
        expect(log.status().snapshot).toEqual(info);
      });

      test("the newest five are kept, and the newest is loaded", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 8);
        for (let index = 1; index <= 8; index += 1) {
          await log.saveSnapshot({ index: logIndex(index), term: leader.term }, [`at ${index}`]);
        }
        for (const expected of [8, 7, 6, 5, 4]) {
          const loaded = await log.loadSnapshot();
          expect(await linesOf(loaded?.lines ?? noLines())).toEqual([`at ${expected}`]);
          await harness.damageNewestSnapshot();
        }
        expect(await log.loadSnapshot()).toBeNull();
      });

      test("a snapshot beyond the log is refused", async () => {
        const leader = await lead(log);
        const beyond = { index: logIndex(1), term: leader.term };
        await expect(log.saveSnapshot(beyond, [])).rejects.toMatchObject({ code: "wrong_index" });
      });

      test("a snapshot whose lines fail leaves nothing behind", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 2);
        await log.saveSnapshot({ index: logIndex(1), term: leader.term }, ["good"]);
        function* failing(): Generator<string> {
          yield "one";
          throw new Error("no more");
        }
        await expect(log.saveSnapshot({ index: logIndex(2), term: leader.term }, failing())).rejects.toThrow("no more");
        expect((await log.loadSnapshot())?.info.index).toBe(1);
      });

      test("truncation drops only what the snapshots cover", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 60, 200);
        await log.truncate(logIndex(40));
        expect(log.status().firstIndex).toBe(1); // no snapshot yet
        await log.saveSnapshot({ index: logIndex(30), term: leader.term }, ["at 30"]);
        await log.saveSnapshot({ index: logIndex(50), term: leader.term }, ["at 50"]);
        await log.truncate(logIndex(60));
        const { firstIndex } = log.status();
        expect(firstIndex).toBeGreaterThan(1);
        expect(firstIndex).toBeLessThanOrEqual(31);
        await expect(readThrough(log, 1, 60)).rejects.toMatchObject({ code: "truncated" });
        expect(await readThrough(log, firstIndex, 60)).toHaveLength(61 - firstIndex);
        await fill(log, leader, 61, 62);
        log = await reopened(harness, log);
        expect(log.status()).toMatchObject({ firstIndex, lastIndex: 62 });
      });

      test("a damaged snapshot does not extend truncation beyond the valid ones", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 60, 200);
        await log.saveSnapshot({ index: logIndex(50), term: leader.term }, ["at 50"]);
        await harness.damageNewestSnapshot();
        log = await reopened(harness, log);
        await log.truncate(logIndex(50));
        expect(log.status().firstIndex).toBe(1);
      });
    });

    describe("status, closing and opening again", () => {
      test("status shows the bounds of the log", async () => {
        expect(log.status()).toMatchObject({
          firstIndex: 1,
          lastIndex: 0,
          snapshot: null,
          leader: null,
          unwritable: null,
        });
        const leader = await lead(log);
        await fill(log, leader, 1, 4);
        expect(log.status()).toMatchObject({ firstIndex: 1, lastIndex: 4, term: leader.term });
        expect(log.status().bytes).toBeGreaterThan(0);
        expect(await log.head()).toBe(4);
      });

      test("closing ends leadership, campaigns and readers, and refuses the rest", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 2);
        const waiting = log.campaign("two", never);
        const reading = readThrough(log, 1, 99);
        const ended = Promise.allSettled([waiting, reading]);
        await log.close();
        await log.close();
        const closed = { code: "closed" };
        expect(await ended).toMatchObject([{ reason: closed }, { reason: closed }]);
        expect(leader.lost.aborted).toBe(true);
        await expect(log.append(leader, entries(leader.term, 3, "x"))).rejects.toMatchObject(closed);
        await expect(log.campaign("three", never)).rejects.toMatchObject(closed);
        await expect(log.head()).rejects.toMatchObject(closed);
        await expect(log.loadSnapshot()).rejects.toMatchObject(closed);
      });

      test("entries, snapshots and the term survive reopening", async () => {
        const leader = await lead(log);
        await fill(log, leader, 1, 40, 100);
        await log.saveSnapshot({ index: logIndex(20), term: leader.term }, ["at 20"]);
        log = await reopened(harness, log);
        expect((await readThrough(log, 1, 40)).map((entry) => entry.index)).toEqual(
          Array.from({ length: 40 }, (_, n) => n + 1),
        );
        expect((await log.loadSnapshot())?.info.index).toBe(20);
        const next = await lead(log);
        expect(next.term).toBeGreaterThan(leader.term);
        await fill(log, next, 41, 42);
        log = await reopened(harness, log);
        const read = await readThrough(log, 39, 42);
        expect(read.map((entry) => entry.term)).toEqual([leader.term, leader.term, next.term, next.term]);
      });
    });
  });
}

async function reopened(harness: Harness, log: ReplicatedLog): Promise<ReplicatedLog> {
  await log.close();
  return harness.open();
}

async function* noLines(): AsyncGenerator<string, void, undefined> {}
