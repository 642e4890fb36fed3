// Many followers of one output: each sees every byte from its start, once and in order, at any speed; and the node sends
// the output once.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LogsQuery } from "../../../src/nodes/output/query.ts";
import type { LiveLogs } from "../../../src/nodes/output/read.ts";
import { shareFollowers } from "../../../src/nodes/output/share.ts";
import { LogOnANode } from "./log-on-a-node.ts";
import { query } from "./query.ts";

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function settle(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await turn();
}

function follower(live: LiveLogs, change: Partial<LogsQuery> = {}) {
  const stop = new AbortController();
  const seen = { text: "", error: null as unknown };
  const done = (async () => {
    try {
      for await (const piece of live(query(change), stop.signal)) seen.text += Buffer.from(piece.data).toString();
    } catch (error) {
      seen.error = error;
    }
  })();
  return { seen, done, stop: () => stop.abort() };
}

test("a hundred followers share one stream and see the same output", async () => {
  const log = new LogOnANode();
  const live = shareFollowers((asked, gone) => log.read(asked, gone));
  const all = Array.from({ length: 100 }, () => follower(live));
  for (let n = 0; n < 50; n += 1) {
    log.write(`line ${n}\n`);
    if (n % 7 === 0) await settle();
  }
  log.end();
  await Promise.all(all.map(({ done }) => done));
  expect(new Set(all.map(({ seen }) => seen.text))).toEqual(new Set([log.text()]));
  expect(log).toMatchObject({ streams: 1, open: 0 });
});

test("a later follower also gets the newest lines and everything after them", async () => {
  const log = new LogOnANode();
  const live = shareFollowers((asked, gone) => log.read(asked, gone));
  log.write("a\nb\nc\n");
  const early = follower(live, { tail: 2 });
  await settle();
  log.write("d\ne\n");
  const late = follower(live, { tail: 2 });
  const whole = follower(live);
  await settle();
  log.write("f\n");
  log.end();
  await Promise.all([early.done, late.done, whole.done]);
  expect([early, late, whole].map(({ seen }) => seen.text)).toEqual(["b\nc\nd\ne\nf\n", "d\ne\nf\n", log.text()]);
  expect(log.mostFollowed).toBe(1);
});

describe("a follower", () => {
  test("the last follower to leave ends the node's stream", async () => {
    const log = new LogOnANode();
    const live = shareFollowers((asked, gone) => log.read(asked, gone));
    const [one, other] = [follower(live), follower(live)];
    await settle();
    one.stop();
    await one.done;
    log.write("after\n");
    await settle();
    expect(other.seen.text).toBe("after\n");
    expect(log.open).toBe(1);
    other.stop();
    await other.done;
    await settle();
    expect(log.open).toBe(0);
    // The next follower opens a new stream.
    const third = follower(live);
    await settle();
    expect(third.seen.text).toBe("after\n");
    third.stop();
    await third.done;
  });

  test("followers are notified of a broken stream and can resume", async () => {
    const log = new LogOnANode();
    const live = shareFollowers((asked, gone) => log.read(asked, gone));
    const all = [follower(live), follower(live)];
    log.write("before\n");
    await settle();
    log.break(new Error("the agent went away"));
    await Promise.all(all.map(({ done }) => done));
    for (const { seen } of all)
      expect(seen).toMatchObject({ text: "before\n", error: new Error("the agent went away") });
    const again = all.map(({ seen }) => follower(live, { offset: seen.text.length }));
    log.write("after\n");
    log.end();
    await Promise.all(again.map(({ done }) => done));
    expect(again.map(({ seen }) => seen.text)).toEqual(["after\n", "after\n"]);
    expect(log.mostFollowed).toBe(1);
  });

  test("a slow follower blocks no other and misses nothing", async () => {
    const log = new LogOnANode(64 * 1024);
    const live = shareFollowers((asked, gone) => log.read(asked, gone));
    const fast = follower(live);
    const slow = live(query(), never)[Symbol.asyncIterator]();
    log.write("x");
    const first = await slow.next();
    let expected = "x";
    // Far more than the buffer holds.
    for (let n = 0; n < 40; n += 1) {
      const text = String.fromCharCode(97 + (n % 26)).repeat(100_000);
      log.write(text);
      expected += text;
      await settle();
    }
    log.end();
    await fast.done;
    expect(fast.seen.text === expected).toBe(true);
    let text = Buffer.from(first.value?.data ?? []).toString();
    for (let next = await slow.next(); next.done !== true; next = await slow.next())
      text += Buffer.from(next.value.data).toString();
    expect(text === expected).toBe(true);
    expect(log.open).toBe(0);
  });

  test("a query by time, or without following, has its own stream", async () => {
    const log = new LogOnANode();
    const live = shareFollowers((asked, gone) => log.read(asked, gone));
    log.write("line\n");
    log.end();
    const all = [follower(live, { sinceMs: 1 }), follower(live, { follow: false }), follower(live)];
    await Promise.all(all.map(({ done }) => done));
    expect(log.streams).toBe(3);
  });
});

test("with any order of followers and reads, every follower sees the output from its start", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("write" as const), bytes: fc.integer({ min: 1, max: 60_000 }) }),
    fc.record({ kind: fc.constant("join" as const), offset: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.record({ kind: fc.constant("leave" as const), who: fc.nat() }),
    fc.record({ kind: fc.constant("settle" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const log = new LogOnANode(16 * 1024);
      const live = shareFollowers((asked, gone) => log.read(asked, gone));
      const joined: { offset: number; left: boolean; follower: ReturnType<typeof follower> }[] = [];
      let written = 0;
      for (const each of steps) {
        if (each.kind === "write") {
          log.write(String.fromCharCode(33 + (written % 90)).repeat(each.bytes));
          written += each.bytes;
        }
        if (each.kind === "join") {
          const offset = Math.floor(each.offset * written);
          joined.push({ offset, left: false, follower: follower(live, { offset }) });
        }
        const who = each.kind === "leave" ? joined[each.who % Math.max(1, joined.length)] : undefined;
        if (who !== undefined) {
          who.left = true;
          who.follower.stop();
        }
        if (each.kind === "settle") await settle();
      }
      log.end();
      await Promise.all(joined.map(({ follower: { done } }) => done));
      const text = log.text();
      for (const {
        offset,
        left,
        follower: { seen },
      } of joined) {
        expect(seen.error).toBeNull();
        if (left) expect(text.slice(offset).startsWith(seen.text)).toBe(true);
        else expect(seen.text === text.slice(offset)).toBe(true);
      }
      await settle();
      expect(log).toMatchObject({ open: 0 });
      expect(log.mostFollowed).toBeLessThanOrEqual(1);
    }),
    { numRuns: 60 },
  );
});
