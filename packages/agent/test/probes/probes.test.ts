// Liveness probes: how failures are counted, with timers by hand, and what real answers mean.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import pino from "pino";
import { expect, test } from "vitest";
import { askProbe } from "../../src/probes/probe.ts";
import { probes } from "../../src/probes/probes.ts";

const log = pino({ level: "silent" });
const PROBE = create(pb.LivenessProbeSchema, {
  probeType: "http",
  port: 1,
  path: "/",
  periodSecs: 0.03,
  initialDelaySecs: 0.01,
  failureThreshold: 3,
  timeoutSecs: 30,
});

/** Timers that fire when told. */
function hand() {
  const waiting: { readonly ms: number; readonly go: () => void }[] = [];
  return {
    after: (ms: number, go: () => void) => {
      const entry = { ms, go };
      waiting.push(entry);
      return () => void waiting.splice(waiting.indexOf(entry), 1);
    },
    async turn(): Promise<number | undefined> {
      const next = waiting.shift();
      next?.go();
      await new Promise((resolve) => setImmediate(resolve));
      return next?.ms;
    },
    waiting,
  };
}

test("consecutive failures end the attempt, and a success resets the count", async () => {
  const answers: (string | null)[] = ["a", "b", null, "c", "d", "e"];
  const failed: string[] = [];
  const timers = hand();
  const all = probes({
    log,
    after: timers.after,
    ask: async () => answers.shift() ?? null,
    failed: (key, why) => failed.push(`${key}: ${why}`),
  });
  all.start("7.1", PROBE);
  const pauses: (number | undefined)[] = [];
  for (let n = 0; n < 6; n += 1) pauses.push(await timers.turn());
  expect(pauses).toEqual([10, 30, 30, 30, 30, 30]);
  expect(failed).toEqual(["7.1: its liveness probe (http 1/) failed 3 times in a row: e"]);
  expect(timers.waiting).toHaveLength(0);
});

test("an attempt is healthy after its last probe succeeded", async () => {
  const answers: (string | null)[] = ["not yet", null, "a", null];
  const timers = hand();
  const all = probes({ log, after: timers.after, ask: async () => answers.shift() ?? null, failed: () => undefined });
  all.start("7.1", PROBE);
  const well: (readonly string[])[] = [all.well()];
  for (let n = 0; n < 4; n += 1) {
    await timers.turn();
    await new Promise((resolve) => setImmediate(resolve));
    well.push(all.well());
  }
  expect(well).toEqual([[], [], ["7.1"], [], ["7.1"]]);
  all.stop("7.1");
  expect(all.well()).toEqual([]);
});

test("a stopped probe reports nothing", async () => {
  const failed: string[] = [];
  const timers = hand();
  let answer: (why: string) => void = () => undefined;
  const all = probes({
    log,
    after: timers.after,
    ask: () => new Promise((resolve) => (answer = resolve)),
    failed: (key) => failed.push(key),
  });
  all.start("7.1", { ...PROBE, failureThreshold: 1 });
  await timers.turn();
  all.stop("7.1");
  answer("too late");
  await new Promise((resolve) => setImmediate(resolve));
  expect(failed).toEqual([]);
});

test("success, error status, timeout and refused connection are distinguished", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/silent") return;
    response.statusCode = request.url === "/good" ? 204 : 503;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(await askProbe({ ...PROBE, port, path: "/good" })).toBeNull();
  expect(await askProbe({ ...PROBE, port, path: "/bad" })).toBe("it answered 503");
  expect(await askProbe({ ...PROBE, port, path: "/silent", timeoutSecs: 0.05 })).toContain("no answer");
  expect(await askProbe({ ...PROBE, probeType: "tcp", port })).toBeNull();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(await askProbe({ ...PROBE, probeType: "tcp", port })).toContain("ECONNREFUSED");
});
