// Without a store the newest output of each log stays, what is older is freed and counted, over restarts too.

import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { pb } from "@lattice/wire";
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SHIP_LIMITS } from "../../src/logs/ship/plan.ts";
import { logRing } from "../../src/logs/ship/ring.ts";
import type { Shipper } from "../../src/logs/ship/shipper.ts";
import { found } from "../fake-server.ts";

const RING = 64 * 1024;
const KEY = "1.1";
const ORDER = { allocationId: "1", attempt: 1, tenant: "t", project: "", user: "u", nodes: ["n1"], nodeIndex: 0 };

let dataDir: string;
let live: boolean;
let lines: string[];
const running: Shipper[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lattice-ring-"));
  [live, lines] = [true, []];
  mkdirSync(join(dataDir, "attempts", KEY), { recursive: true });
  mkdirSync(join(dataDir, "ended"));
  writeFileSync(at("stdout"), "");
  writeFileSync(at("stderr"), "");
});
afterEach(async () => {
  for (const ring of running.splice(0)) await ring.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 9 });
});

const at = (stream: string, folder = "attempts"): string => join(dataDir, folder, KEY, stream);
const blocks = (path: string): number => statSync(path).blocks * 512;

async function life(): Promise<Shipper> {
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const ring = logRing({ node: "n1", dataDir, limits: { ...SHIP_LIMITS, ringBytes: RING }, now: Date.now, log });
  running.push(ring);
  const place = (): string | null =>
    ["attempts", "ended"].find((folder) => statSync(at("stdout", folder), { throwIfNoEntry: false })) ?? null;
  await ring.recover({
    logFile: async (_, stream) => {
      const folder = place();
      return folder === null ? null : at(stream, folder);
    },
    live: () => live,
  });
  ring.begin();
  return ring;
}

test("a growing log keeps its newest part and its offsets, and counts the freed bytes", async () => {
  const ring = await life();
  ring.add(KEY, ORDER as unknown as pb.RunOrder);
  appendFileSync(at("stdout"), "a".repeat(10 * RING));
  await found(() => ring.trimmedBytes() === 9 * RING || null);
  expect(await ring.startOf(KEY, "stdout")).toBe(9 * RING);
  expect(ring.startNow(KEY, "stdout")?.()).toBe(9 * RING);
  await found(() => blocks(at("stdout")) <= RING + 4096 || null);
  expect(
    readFileSync(at("stdout"))
      .subarray(9 * RING)
      .every((byte) => byte === 97),
  ).toBe(true);
  expect([ring.waitingBytes(), ring.droppedBytes()]).toEqual([0, 0]);
  expect(lines.filter((line) => line.includes("old output freed"))).toHaveLength(1);
});

test("a log within the limit is unchanged and has no record", async () => {
  const ring = await life();
  ring.add(KEY, ORDER as unknown as pb.RunOrder);
  appendFileSync(at("stderr"), "b".repeat(RING));
  await ring.keep(KEY);
  expect(ring.trimmedBytes()).toBe(0);
  expect(await ring.startOf(KEY, "stderr")).toBe(0);
  expect(statSync(at("shipped.json"), { throwIfNoEntry: false })).toBeUndefined();
});

test("a last burst is trimmed before archiving, and its start offset is recorded", async () => {
  const ring = await life();
  ring.add(KEY, ORDER as unknown as pb.RunOrder);
  appendFileSync(at("stdout"), "c".repeat(3 * RING));
  live = false;
  await ring.keep(KEY);
  renameSync(join(dataDir, "attempts", KEY), join(dataDir, "ended", KEY));
  expect(blocks(at("stdout", "ended"))).toBeLessThanOrEqual(RING + 4096);
  expect(ring.startNow(KEY, "stdout")).toBeNull();
  expect(await ring.startOf(KEY, "stdout")).toBe(2 * RING);
});

test("a restarted agent continues where the previous one stopped", async () => {
  const before = await life();
  before.add(KEY, ORDER as unknown as pb.RunOrder);
  appendFileSync(at("stdout"), "d".repeat(2 * RING));
  await found(() => before.trimmedBytes() === RING || null);
  await before.close();
  const after = await life();
  expect(await after.startOf(KEY, "stdout")).toBe(RING);
  after.add(KEY, ORDER as unknown as pb.RunOrder);
  appendFileSync(at("stdout"), "d".repeat(RING));
  await found(() => after.trimmedBytes() === RING || null);
  expect(await after.startOf(KEY, "stdout")).toBe(2 * RING);
});
