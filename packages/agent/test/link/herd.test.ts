// Thousands of nodes lose the same server at once: their reconnect times and choice of servers, on virtual time with
// scripted streams.

import { EventEmitter } from "node:events";
import { create } from "@bufbuild/protobuf";
import type { Client } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import pino from "pino";
import { describe, expect, test } from "vitest";
import type { After } from "../../src/base/after.ts";
import { spreadOf } from "../../src/link/backoff.ts";
import type { Dialer } from "../../src/link/dial.ts";
import type { HeartbeatTimer } from "../../src/link/heartbeat-timer.ts";
import { openLink } from "../../src/link/link.ts";

const NODES = 600;
const SERVERS = ["a:1", "b:1", "c:1"];
const HEARTBEAT_MS = 10_000;

describe(`${NODES} nodes that lose one server together`, () => {
  test("reconnects spread over a fifth of the heartbeat interval and over both remaining servers", () => {
    const { time, calls } = fleet();
    for (const call of calls) call.welcome();
    const lost = calls.filter((call) => call.server === "a:1");
    expect(lost.length).toBeGreaterThan(NODES / 4);
    const before = calls.length;
    for (const call of lost) call.lose();
    time.advance(spreadOf(HEARTBEAT_MS));
    const again = calls.slice(before);
    expect(again).toHaveLength(lost.length);
    const share = (server: string) => again.filter((call) => call.server === server).length / again.length;
    expect([share("a:1"), share("b:1") > 0.4, share("c:1") > 0.4]).toEqual([0, true, true]);
    expect(fullestTenth(again.map((call) => call.atMs))).toBeLessThan(0.2);
  });

  test("refused nodes wait longer each time", () => {
    const { time, calls } = fleet();
    for (const call of calls) call.welcome();
    let round = [...calls];
    const seconds: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      const began = time.now();
      const before = calls.length;
      for (const call of round) call.refuse("not_leader");
      for (let step = 0; step < 100 && calls.length - before < NODES; step += 1) time.advance(100);
      round = calls.slice(before);
      expect(round).toHaveLength(NODES);
      seconds.push((time.now() - began) / 1000);
    }
    // From the third on each is about twice the one before, up to five seconds.
    expect(seconds.at(-1)).toBeGreaterThan(3);
    expect(seconds.at(-1)).toBeLessThanOrEqual(5);
  });

  test.each([
    [10_000, 2_000],
    [600_000, 5_000],
    [100, 20],
    [0, 1],
  ])("with a heartbeat every %i ms reconnects spread over %i ms", (interval, spread) =>
    expect(spreadOf(interval)).toBe(spread),
  );
});

interface FakeCall {
  readonly server: string;
  readonly atMs: number;
  welcome(): void;
  lose(): void;
  refuse(code: string): void;
}

function fleet() {
  const time = virtualTime();
  const calls: FakeCall[] = [];
  const random = seeded(7);
  const dialer: Dialer = {
    servers: SERVERS,
    greeting: { enter: (go) => go(() => undefined) },
    client: (server) =>
      ({
        makeBidiStreamRequest() {
          const stream = Object.assign(new EventEmitter(), { write() {}, end() {}, cancel() {} });
          const say = (message: pb.ServerMessage["message"]) =>
            stream.emit("data", create(pb.ServerMessageSchema, { message }));
          calls.push({
            server,
            atMs: time.now(),
            welcome: () =>
              say({
                case: "welcome",
                value: create(pb.WelcomeSchema, { protocolVersion: 1, heartbeatIntervalMs: HEARTBEAT_MS }),
              }),
            lose: () => stream.emit("error", Object.assign(new Error("gone"), { code: 14, details: "gone" })),
            refuse: (code) => say({ case: "refused", value: create(pb.RefusedSchema, { code }) }),
          });
          return stream;
        },
      }) as unknown as Client,
    close() {},
  };
  const heartbeatTimer: HeartbeatTimer = { join: () => () => undefined, close() {} };
  for (let member = 0; member < NODES; member += 1) {
    openLink({
      dialer,
      member,
      heartbeatTimer,
      random,
      after: time.after,
      log: pino({ level: "silent" }),
      hello: () => create(pb.HelloSchema, { nodeId: `n${member}` }),
      heartbeat: () => ({ running: 0, load1: 0, memoryAvailableGb: 0 }),
      welcomed() {},
      order() {},
    });
  }
  time.advance(1);
  return { time, calls };
}

/** The share of the fullest of ten equal parts of the time between the first and the last. */
function fullestTenth(times: readonly number[]): number {
  const first = Math.min(...times);
  const width = (Math.max(...times) - first) / 10;
  const parts = new Array<number>(11).fill(0);
  for (const at of times) {
    const part = Math.floor((at - first) / width);
    parts[part] = (parts[part] ?? 0) + 1;
  }
  return Math.max(...parts) / times.length;
}

function virtualTime() {
  let now = 0;
  let waiting: { at: number; call: () => void }[] = [];
  const after: After = (ms, call) => {
    const timer = { at: now + ms, call };
    waiting.push(timer);
    return () => {
      timer.call = () => undefined;
    };
  };
  return {
    after,
    now: () => now,
    advance(ms: number) {
      const end = now + ms;
      for (;;) {
        const due = waiting.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
        if (due.length === 0) break;
        waiting = waiting.filter((timer) => timer.at > end);
        for (const timer of due) {
          now = timer.at;
          timer.call();
        }
      }
      now = end;
    },
  };
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
