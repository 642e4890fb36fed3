// Output shipping with a failing store, a failing attempt, a restart and a full disk.

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { nodeMetadataKey } from "@lattice/wire";
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SHIP_LIMITS } from "../../src/logs/ship/plan.ts";
import { logShipper, type Shipper } from "../../src/logs/ship/shipper.ts";
import { found } from "../fake-server.ts";

let dataDir: string;
let objects: Map<string, Buffer>;
let away: boolean;
let lines: string[];
const running: Shipper[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lattice-shipper-"));
  [objects, away, lines] = [new Map(), false, []];
});
afterEach(async () => {
  for (const shipper of running.splice(0)) await shipper.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 9 });
});

const live = new Set<string>();

/** An agent's life, as far as its output goes. */
async function life(): Promise<Shipper> {
  const answer = <T>(give: () => T): Promise<T> =>
    away ? Promise.reject(new Error("the store is unreachable")) : Promise.resolve(give());
  const shipper = logShipper({
    store: {
      place: "the test",
      put: (key, bytes) => answer(() => void objects.set(key, Buffer.from(bytes))),
      get: (key) => answer(() => objects.get(key) ?? null),
    },
    compress: async ({ path, start, end }) => readFileSync(path).subarray(start, end),
    node: "n1",
    dataDir,
    limits: SHIP_LIMITS,
    now: Date.now,
    log: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
  });
  running.push(shipper);
  const placeOf = (key: string): string | null =>
    ["attempts", "ended"].map((folder) => join(dataDir, folder, key)).find((dir) => isThere(dir)) ?? null;
  await shipper.recover({
    logFile: async (key, stream) => {
      const dir = placeOf(key);
      return dir === null ? null : join(dir, stream);
    },
    live: (key) => live.has(key),
  });
  return shipper;
}

function isThere(dir: string): boolean {
  try {
    readFileSync(join(dir, "stdout"));
    return true;
  } catch {
    return false;
  }
}

const orderOf = (allocationId: string): pb.RunOrder =>
  ({
    allocationId,
    attempt: 1,
    tenant: "t",
    project: "p",
    user: "u",
    nodes: ["n1"],
    nodeIndex: 0,
  }) as unknown as pb.RunOrder;

function write(allocationId: string, text: string): string {
  const dir = join(dataDir, "attempts", `${allocationId}.1`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "stdout"), text);
  writeFileSync(join(dir, "stderr"), "");
  return `${allocationId}.1`;
}

async function putAway(shipper: Shipper, key: string): Promise<void> {
  await shipper.keep(key);
  mkdirSync(join(dataDir, "ended"), { recursive: true });
  renameSync(join(dataDir, "attempts", key), join(dataDir, "ended", key));
}

const sent = (text: string): boolean => [...objects.values()].some((bytes) => bytes.toString() === text);
const output = (words: string): number => lines.filter((line) => line.includes(words)).length;

test("output of attempts that ended during a store outage is sent by the restarted agent", async () => {
  away = true;
  const before = await life();
  before.begin();
  const key = write("1", "all of it\n");
  before.add(key, orderOf("1"));
  await putAway(before, key);
  await before.close();
  away = false;
  const after = await life();
  after.begin();
  await found(() => sent("all of it\n"));
  await found(() => (after.waitingBytes() === 0 ? true : null));
  await found(() => readFileSync(join(dataDir, "ended", key, "shipped.json"), "utf8").includes('"complete":true'));
});

test("sending starts after recovery, and sent output is not repeated", async () => {
  const before = await life();
  before.begin();
  const key = write("2", "once\n");
  before.add(key, orderOf("2"));
  await found(() => readRecord(key)?.includes('"complete":true'));
  await before.close();
  objects.clear();
  // The front of a log that was sent may be freed.
  writeFileSync(join(dataDir, "attempts", key, "stdout"), "\0\0\0\0\n");
  const other = write("3", "lives\n");
  const after = await life();
  after.add(key, orderOf("2"));
  after.add(other, orderOf("3"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(objects.size).toBe(0);
  after.begin();
  await found(() => sent("lives\n"));
  expect(sent("\0\0\0\0\n")).toBe(false);
});

const readRecord = (key: string): string | null => {
  try {
    return readFileSync(join(dataDir, "attempts", key, "shipped.json"), "utf8");
  } catch {
    return null;
  }
};

test("output removed before it was sent is counted", async () => {
  away = true;
  const shipper = await life();
  const key = write("4", "x".repeat(1000));
  write("5", "y".repeat(10));
  for (const id of ["4", "5"]) shipper.add(`${id}.1`, orderOf(id));
  await putAway(shipper, key);
  shipper.removed(key);
  expect(shipper.droppedBytes()).toBe(1000);
  shipper.removed(key);
  shipper.removed("unknown.1");
  expect(shipper.droppedBytes()).toBe(1000);
  shipper.begin();
  await found(() => shipper.waitingBytes() === 10);
  expect(output("the log store is unavailable")).toBe(1);
  away = false;
  await found(() => sent("y".repeat(10)));
  expect(output("log store available again")).toBe(1);
});

test("an attempt whose output cannot be sent does not stop the others", async () => {
  const shipper = await life();
  const owner = { allocationId: "6", attempt: 1, tenant: "t", project: "p", user: "u", nodes: ["n1"], nodeIndex: 0 };
  const broken = nodeMetadataKey(owner, "n1");
  objects.set(broken, Buffer.from("{ no json"));
  for (const id of ["6", "7"]) {
    write(id, `of ${id}\n`);
    shipper.add(`${id}.1`, orderOf(id));
  }
  shipper.begin();
  await found(() => sent("of 7\n"));
  expect(sent("of 6\n")).toBe(false);
  await found(() => shipper.waitingBytes() === 5);
  expect(output("the output of an attempt cannot be sent")).toBe(1);
  expect(output("the log store is unavailable")).toBe(0);
  objects.delete(broken);
  await found(() => sent("of 6\n"));
});
