// The schedule on a manual clock: only the leader takes backups, a failure is retried, and expired backups are deleted.

import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Duration, duration, instant } from "@lattice/core";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { backupName, timeOfName } from "../../../src/state/backup/format/format.ts";
import { type BackupSchedule, startBackupSchedule } from "../../../src/state/backup/schedule/act.ts";
import { createBackups } from "../../../src/state/backup/service.ts";
import type { History } from "../../../src/state/history/index.ts";
import { backupsOf, busy, configFor, DAY_MS, machine, NO_ARCHIVE, never, openTestHistory, temporary } from "./rig.ts";

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 18, 12);
const IDLE_WITHIN_MS = 60_000;

/** A manual clock: everything that is due happens before more time passes. */
function handClock() {
  let now = START;
  const waiting = new Set<{ readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => instant(now),
    worked: () => now,
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    after(wait: Duration, callback) {
      const one = { at: now + wait, callback };
      waiting.add(one);
      return () => waiting.delete(one);
    },
  };
  const pass = async (ms: number): Promise<void> => {
    await idle(waiting);
    const until = now + ms;
    for (;;) {
      const next = [...waiting].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      waiting.delete(next);
      now = Math.max(now, next.at);
      next.callback();
      await idle(waiting);
    }
    now = until;
  };
  return { clock, pass };
}

/**
 * Disk work is in progress until the clock has a waiter again. Polls by turns of the event loop: the shortest timer takes
 * up to twenty times as long on a busy machine.
 */
async function idle(waiting: ReadonlySet<unknown>): Promise<void> {
  const deadline = performance.now() + IDLE_WITHIN_MS;
  while (waiting.size === 0 && performance.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
}

const dir = temporary();
let n = 0;
let history: History;
let schedule: BackupSchedule | null = null;
let results: string[] = [];

beforeEach(async () => {
  n += 1;
  results = [];
  history = await openTestHistory(join(dir, String(n)));
});
afterEach(async () => {
  await schedule?.close();
  await history.close();
});

async function start(place: string, leads: () => boolean) {
  const { clock, pass } = handClock();
  const config = configFor(place, { interval: duration(HOUR_MS) });
  const { replica } = await busy(history, 4);
  const backups = createBackups({
    config,
    cluster: () => null,
    replica,
    history,
    audit: NO_ARCHIVE,
    members: async () => [],
    serverVersion: "1",
    clock,
    logger: pino({ level: "silent" }),
  });
  const metrics = { backup: (result: string) => void results.push(result) };
  schedule = startBackupSchedule({ config, backups, leads, clock, logger: pino({ level: "silent" }), metrics });
  return { pass, taken: () => readdirSync(place).filter((name) => timeOfName(name) !== null) };
}

test("a leader takes one backup an hour, a follower none", async () => {
  let leads = false;
  const place = join(dir, "hourly");
  mkdirSync(place);
  const { pass, taken } = await start(place, () => leads);
  await pass(10_000);
  expect(taken()).toEqual([]);
  leads = true;
  await pass(10_000);
  expect(taken()).toHaveLength(1);
  await pass(HOUR_MS / 4);
  leads = false;
  await pass(3 * HOUR_MS);
  expect(taken()).toHaveLength(1);
  // Another leader uses the existing backups.
  leads = true;
  await pass(10_000);
  expect(taken()).toHaveLength(2);
  leads = false;
  await pass(5_000);
  leads = true;
  await pass(10_000);
  expect(taken()).toHaveLength(2);
  expect(results).toEqual(["written", "written"]);
});

test("a failure is reported, retried, and cleared by a success", async () => {
  const place = join(dir, "blocked");
  writeFileSync(place, "a file where a folder should be");
  const { pass, taken } = await start(place, () => true);
  await pass(30_000);
  expect(results).toEqual(["failed"]);
  await pass(60_000);
  expect(results).toEqual(["failed", "failed"]);
  rmSync(place);
  mkdirSync(place);
  await pass(70_000);
  expect(taken()).toHaveLength(1);
  expect(results.at(-1)).toBe("written");
});

test("only expired backups are deleted, with their checksums", async () => {
  const place = join(dir, "pruned");
  mkdirSync(place);
  const { pass } = await start(place, () => true);
  await pass(5_000);
  const [made = ""] = readdirSync(place).filter((name) => timeOfName(name) !== null);
  const put = (ageMs: number): string => {
    const name = backupName(START - ageMs);
    copyFileSync(join(place, made), join(place, name));
    writeFileSync(join(place, `${name}.sha256`), "");
    return name;
  };
  const kept = [put(2 * DAY_MS), put(20 * DAY_MS), put(60 * DAY_MS)];
  const gone = [put(20 * DAY_MS + HOUR_MS), put(100 * DAY_MS)];
  writeFileSync(join(place, "notes.txt"), "");
  await pass(HOUR_MS + 10_000);
  const names = readdirSync(place);
  for (const name of [...kept, "notes.txt"]) expect(names).toContain(name);
  for (const name of gone) {
    expect(names).not.toContain(name);
    expect(names).not.toContain(`${name}.sha256`);
  }
});

test("backups of another cluster in the same place neither count nor expire", async () => {
  const place = join(dir, "shared");
  const other = machine();
  other.apply({ kind: "cluster.found", id: "b".repeat(32) });
  const { name: made } = await backupsOf(configFor(place), other, history).create("", never);
  const foreign = [backupName(START - 60_000), backupName(START - 100 * DAY_MS)];
  for (const name of foreign) copyFileSync(join(place, made), join(place, name));
  const damaged = backupName(START - 200 * DAY_MS);
  writeFileSync(join(place, damaged), "no backup");
  const { pass, taken } = await start(place, () => true);
  await pass(10_000);
  const own = taken().filter((name) => ![made, damaged, ...foreign].includes(name));
  expect(own).toHaveLength(1);
  await pass(HOUR_MS + 10_000);
  expect(taken()).toEqual(expect.arrayContaining([made, damaged, ...foreign, ...own]));
  expect(results).toEqual(["written", "written"]);
});
