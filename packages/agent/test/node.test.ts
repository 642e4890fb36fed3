// One node over a runtime that refuses or never answers: records that cannot be written, leftovers
// that cannot be cleared away.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { simulatedRuntime } from "../src/hollow/simulated-runtime.ts";
import type { AttemptEffect } from "../src/lifecycle/attempt.ts";
import type { RecoveredFacts } from "../src/lifecycle/recover.ts";
import { dialer } from "../src/link/dial.ts";
import { heartbeatTimer } from "../src/link/heartbeat-timer.ts";
import { identityOf } from "../src/link/messages.ts";
import { startNode } from "../src/node/node.ts";
import type { AgentNode } from "../src/node/node-handle.ts";
import { RETRY_AFTER_MS } from "../src/node/pending-writes.ts";
import type { Runtime } from "../src/runtime/base/runtime.ts";
import { type FakeServer, fakeServer, found } from "./fake-server.ts";

const hardware = { cpuCores: 1, memoryGb: 23.549, gpuType: "", gpuCount: 0, features: [], hostname: "h", kernel: "k" };
const facts = { group: "g", homeVcluster: "", conformance: "", version: "v", bootId: "b", isolation: "", hollow: true };
const RUNS_MS = 600_000;

let server: FakeServer;
let node: AgentNode;
let undo: (() => void)[] = [];
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(async () => {
  await node.close();
  for (const each of undo) each();
  undo = [];
  await server.close();
});

async function start(change: (runtime: Runtime) => Partial<Runtime>): Promise<void> {
  const dial = dialer({ servers: [server.address] });
  const beats = heartbeatTimer(Math.random);
  undo = [() => dial.close(), () => beats.close()];
  node = await startNode({
    identity: identityOf({ nodeId: "n1", hardware, ...facts }),
    dialer: dial,
    member: 0,
    heartbeatTimer: beats,
    random: Math.random,
    now: Date.now,
    log: pino({ level: process.env.AGENT_TEST_LOG ?? "silent" }),
    vitals: () => ({ load1: 0, memoryAvailableGb: 0 }),
    runtime: async (listener) => {
      const runtime = simulatedRuntime(RUNS_MS, listener);
      return { ...runtime, ...change(runtime) };
    },
  });
  await found(() => node.connected());
}

describe("a full disk", () => {
  const full = () => Promise.reject(new Error("ENOSPC: no space left on device"));

  test("a stop still sends SIGTERM and SIGKILL, and the end is reported", async () => {
    const done: AttemptEffect["kind"][] = [];
    await start((runtime) => ({
      rememberOrder: full,
      rememberStop: full,
      rememberEnd: full,
      terminate: async () => void done.push("terminate"),
      kill: async (key) => {
        done.push("kill");
        // The first one fails, too.
        if (done.filter((kind) => kind === "kill").length === 1) throw new Error("EIO");
        await runtime.kill(key);
      },
    }));
    server.run({ allocationId: "1", command: ["true"] });
    await server.running("1");
    server.stop({ allocationId: "1", graceSeconds: 1 });
    expect(await server.end("1")).toMatchObject({ reason: "stopped" });
    expect(done.filter((kind) => kind === "kill")).toHaveLength(2);
    expect(done[0]).toBe("terminate");
  });

  test("the walltime still ends the attempt", async () => {
    await start(() => ({ rememberStop: full, rememberEnd: full }));
    server.run({ allocationId: "1", command: ["true"], walltimeSeconds: 1 });
    expect(await server.end("1")).toMatchObject({ reason: "walltime_exceeded" });
  });

  test("an unwritten end is kept, listed in the Hello, and written later", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    undo.push(() => vi.useRealTimers());
    let room = false;
    const written: string[] = [];
    server.settings.acknowledge = false;
    await start(() => ({
      rememberEnd: async (key, end) => {
        if (!room) return full();
        written.push(`${key} ${end.kind}`);
      },
    }));
    server.stop({ allocationId: "7" });
    await server.end("7");
    server.disconnect();
    await found(() => server.hellos.length === 2);
    expect(server.hellos[1]?.attempts).toMatchObject([{ allocationId: "7", state: pb.AllocationState.FAILED }]);
    await vi.advanceTimersByTimeAsync(RETRY_AFTER_MS);
    room = true;
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(RETRY_AFTER_MS);
    expect(written).toEqual(["7.1 failed"]);
    await vi.advanceTimersByTimeAsync(4 * RETRY_AFTER_MS);
    expect(written).toHaveLength(1);
  });
});

describe("a restarted node", () => {
  const order = create(pb.RunOrderSchema, {});
  const alive: RecoveredFacts = {
    order,
    arrivedAtMs: 1,
    claimed: true,
    claimedAtMs: 1,
    alive: true,
    exit: null,
    exitedAtMs: 0,
    stop: null,
    end: null,
    rebooted: false,
  };
  const never = (): Promise<never> => new Promise(() => undefined);
  const { STAGING, RUNNING, FAILED } = pb.AllocationState;

  test("the first Hello lists every attempt before any cleanup", async () => {
    const end = { kind: "failed", reason: "lost", exitCode: null, message: "", atMs: 1 } as const;
    await start(() => ({
      recover: async () =>
        new Map<string, RecoveredFacts>([
          ["1.1", { ...alive, alive: false }],
          ["2.1", { ...alive, rebooted: true }],
          ["3.1", { ...alive, claimed: false, alive: false }],
          ["4.1", alive],
          ["5.2", { ...alive, end }],
          ["6.1", { ...alive, alive: false, exit: { kind: "code", code: 0, recorded: true } }],
          ["7.1", { ...alive, order: null, claimed: false, alive: false }],
        ]),
      clear: never,
      sweep: never,
      discard: never,
    }));
    const reported = server.hellos[0]?.attempts.map((a) => [`${a.allocationId}.${a.attempt}`, a.state]);
    expect(reported).toEqual([
      ["1.1", RUNNING],
      ["2.1", RUNNING],
      ["3.1", STAGING],
      ["4.1", RUNNING],
      ["5.2", FAILED],
      ["6.1", RUNNING],
    ]);
    expect(server.hellos[0]?.capabilities?.memoryGb).toBe(23.54);
  });

  test("nothing starts before leftovers of unknown attempts are removed", async () => {
    let gone = (): void => undefined;
    await start(() => ({ sweep: () => new Promise((resolve) => (gone = resolve)) }));
    server.run({ allocationId: "1", command: ["true"] });
    await found(() => node.live() === 1);
    server.disconnect();
    await found(() => server.hellos.length === 2);
    expect(server.hellos[1]?.attempts).toMatchObject([{ allocationId: "1", state: STAGING }]);
    expect(server.reports).toEqual([]);
    gone();
    await server.running("1");
  });
});
