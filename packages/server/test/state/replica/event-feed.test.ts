// Watchers see every event after their cursor, in order, or get `cursor_gone`.

import type { Applied, Event, LogIndex } from "@lattice/core";
import { describe, expect, it } from "vitest";
import type { Cursor, NumberedEvent } from "../../../src/state/events/cursor.ts";
import { createEventFeed, type EventFeed } from "../../../src/state/replica/event-feed.ts";

const entry = (index: number, count: number): Applied =>
  ({
    index,
    at: index,
    outcomes: [],
    effects: [],
    events: Array.from({ length: count }, (_, n) => ({ kind: "node_changed", reason: `${index}:${n}` }) as Event),
  }) as unknown as Applied;

const cursor = (index: number, n: number): Cursor => ({ index: index as LogIndex, n });

async function take(feed: EventFeed, after: Cursor | null, count: number): Promise<string[]> {
  const stop = new AbortController();
  const seen: NumberedEvent[] = [];
  for await (const batch of feed.read(after, stop.signal)) {
    seen.push(...batch);
    if (seen.length >= count) stop.abort();
  }
  return seen.map((one) => String(one.event.reason));
}

describe("event feed", () => {
  it("replays after a cursor, inside an entry too", async () => {
    const feed = createEventFeed();
    feed.record(entry(1, 3));
    feed.record(entry(2, 0));
    feed.record(entry(3, 2));
    expect(await take(feed, cursor(1, 0), 4)).toEqual(["1:1", "1:2", "3:0", "3:1"]);
    expect(await take(feed, cursor(2, Number.MAX_SAFE_INTEGER), 2)).toEqual(["3:0", "3:1"]);
  });

  it("continues with later events", async () => {
    const feed = createEventFeed();
    feed.record(entry(1, 1));
    const later = take(feed, null, 2);
    await new Promise((resolve) => setImmediate(resolve));
    feed.record(entry(2, 1));
    feed.record(entry(3, 1));
    expect(await later).toEqual(["2:0", "3:0"]);
  });

  it("ends when aborted", async () => {
    const feed = createEventFeed();
    const stop = new AbortController();
    const reading = (async () => {
      for await (const _ of feed.read(null, stop.signal)) throw new Error("nothing was recorded");
    })();
    stop.abort();
    await reading;
  });

  it("refuses a cursor from before the window or from another log", async () => {
    const feed = createEventFeed();
    feed.begin(100 as LogIndex);
    feed.record(entry(101, 1));
    await expect(take(feed, cursor(50, 0), 1)).rejects.toMatchObject({ problem: { code: "cursor_gone" } });
    await expect(take(feed, cursor(500, 0), 1)).rejects.toMatchObject({ problem: { code: "cursor_gone" } });
    expect(await take(feed, cursor(100, Number.MAX_SAFE_INTEGER), 1)).toEqual(["101:0"]);
  });

  it("keeps a bounded window", async () => {
    const feed = createEventFeed();
    for (let index = 1; index <= 100_000; index += 1) feed.record(entry(index, 1));
    await expect(take(feed, cursor(1, 0), 1)).rejects.toMatchObject({ problem: { code: "cursor_gone" } });
    expect(await take(feed, cursor(99_998, 0), 2)).toEqual(["99999:0", "100000:0"]);
  });

  it("wakes many watchers together, and each sees every event in order", async () => {
    let now = 0;
    const due: { readonly at: number; readonly then: () => void }[] = [];
    const feed = createEventFeed({ now: () => now, after: (ms, then) => void due.push({ at: now + ms, then }) });
    const heard: string[][] = Array.from({ length: 200 }, () => []);
    const stop = new AbortController();
    const all = heard.map(async (mine) => {
      for await (const batch of feed.read(null, stop.signal)) mine.push(batch.map((one) => one.event.reason).join(" "));
    });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    await settled();
    // The first event wakes at once; events shortly after it wait and come together.
    feed.record(entry(1, 1));
    await settled();
    now = 10;
    for (const index of [2, 3]) feed.record(entry(index, 1));
    await settled();
    expect(new Set(heard.map((mine) => mine.join()))).toEqual(new Set(["1:0"]));
    expect(due.map(({ at }) => at)).toEqual([200]);
    now = 200;
    due[0]?.then();
    await settled();
    expect(new Set(heard.map((mine) => mine.join()))).toEqual(new Set(["1:0,2:0 3:0"]));
    stop.abort();
    await Promise.all(all);
  });
});
