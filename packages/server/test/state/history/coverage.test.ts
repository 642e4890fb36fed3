// The progress of a history: it advances with the entries, survives a crash, and a server that starts from a later
// snapshot has a gap, which records of other servers close.

import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LogIndex, logIndex } from "@lattice/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCoverage } from "../../../src/state/history/coverage.ts";
import {
  type History,
  type HistoryOptions,
  openHistory,
  type StoredRecord,
  writeMark,
} from "../../../src/state/history/index.ts";
import { finished, idOf } from "./records.ts";

const at = (index: number): LogIndex => logIndex(index);
const archivedBy = (index: number, ...ids: (number | string)[]) =>
  ids.map((id) => ({ ...finished(id), index: at(index) }));
const text = (index: number, id: number | string): StoredRecord => ({
  index,
  json: JSON.stringify(finished(id).record),
});

let dir: string;
let warnings: string[];
const opened: History[] = [];
const open = async (options: Partial<HistoryOptions> = {}): Promise<History> => {
  const history = await openHistory({ dir, onWarning: (warning) => warnings.push(warning), ...options });
  opened.push(history);
  return history;
};
const reopen = async (history: History): Promise<History> => {
  await history.close();
  return open();
};
async function rangeOf(history: History, after: number, through: number): Promise<readonly string[]> {
  const found = [];
  for await (const page of history.range(at(after), at(through))) {
    found.push(...page.map(({ index, json }) => `${index}:${(JSON.parse(json) as { id: string }).id}`));
  }
  return found;
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lattice-history-"));
  warnings = [];
});
afterEach(async () => {
  for (const history of opened.splice(0)) await history.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 9 });
});

describe("coverage", () => {
  test.each([
    { name: "a new history from the first entry", kept: 0, begins: 0, gap: null, through: 0 },
    { name: "a new history from a snapshot", kept: 0, begins: 50, gap: { after: 0, through: 50 }, through: 0 },
    { name: "back with nothing missed", kept: 50, begins: 50, gap: null, through: 50 },
    { name: "back behind itself, after a crash", kept: 50, begins: 40, gap: null, through: 50 },
    { name: "back after a snapshot", kept: 50, begins: 90, gap: { after: 50, through: 90 }, through: 50 },
    { name: "a history of a time before marks", kept: null, begins: 90, gap: null, through: 90 },
  ])("$name", ({ kept, begins, gap, through }) => {
    const whole = createCoverage(kept);
    whole.begin(begins);
    whole.begin(begins + 1_000);
    expect(whole.gap()).toEqual(gap);
    expect(whole.through()).toBe(through);
  });

  test("entries advance it up to a gap, and closing the gap catches up", () => {
    const whole = createCoverage(50);
    whole.begin(90);
    whole.applied(95);
    expect(whole.through()).toBe(50);
    whole.filled(70);
    whole.filled(60);
    expect(whole.gap()).toEqual({ after: 70, through: 90 });
    whole.filled(90);
    expect(whole.gap()).toBeNull();
    expect(whole.through()).toBe(95);
  });
});

describe("the progress file", () => {
  test("progress survives a restart, with and without archived records", async () => {
    let history = await open();
    history.begin(at(0));
    await history.append(archivedBy(3, 1, 2));
    history.applied(at(3));
    history.applied(at(9));
    expect(history.through()).toBe(9);
    history = await reopen(history);
    history.begin(at(9));
    expect(history.gap()).toBeNull();
    expect(history.through()).toBe(9);
  });

  test("progress is written with a flush, and periodically without one", async () => {
    const history = await open();
    const kept = async () =>
      (JSON.parse(await readFile(join(dir, "through.json"), "utf8")) as { through: number }).through;
    expect(await kept()).toBe(0);
    history.begin(at(0));
    for (let index = 1; index <= 10; index += 1) history.applied(at(index));
    expect(await kept()).toBe(0);
    await history.flush();
    expect(await kept()).toBe(10);
    for (let index = 11; index <= 300; index += 1) history.applied(at(index));
    await expect.poll(kept).toBeGreaterThan(256);
  });

  test("a crash before a newer snapshot leaves a gap", async () => {
    const history = await open();
    history.begin(at(0));
    history.applied(at(20));
    await history.flush();
    for (let index = 21; index <= 30; index += 1) history.applied(at(index));
    const after = await openHistory({ dir: await copyOf(dir) });
    opened.push(after);
    after.begin(at(28));
    expect(after.gap()).toEqual({ after: 20, through: 28 });
  });

  test("progress survives the loss of the index", async () => {
    let history = await open();
    history.begin(at(0));
    await history.append(archivedBy(3, 1, 2));
    history.applied(at(9));
    await history.close();
    for (const suffix of ["", "-wal", "-shm"]) await rm(join(dir, `index.db${suffix}`), { force: true });
    history = await open();
    history.begin(at(20));
    expect(history.gap()).toEqual({ after: 9, through: 20 });
    expect(await rangeOf(history, 0, 20)).toEqual(["3:1", "3:2"]);
  });

  test("a history without a progress file counts as complete", async () => {
    let history = await open();
    await history.append(archivedBy(3, 1));
    await history.close();
    await rm(join(dir, "through.json"));
    history = await open();
    history.begin(at(20));
    expect(history.gap()).toBeNull();
    expect(history.through()).toBe(20);
    history = await reopen(history);
    history.begin(at(40));
    expect(history.gap()).toEqual({ after: 20, through: 40 });
  });

  test("recovery sets the progress; an unreadable file counts as 0", async () => {
    writeMark(dir, 70);
    let history = await open();
    history.begin(at(70));
    expect(history.through()).toBe(70);
    await history.close();
    await writeFile(join(dir, "through.json"), "nonsense");
    history = await open();
    history.begin(at(70));
    expect(history.gap()).toEqual({ after: 0, through: 70 });
    expect(warnings.join()).toContain("cannot be read");
  });

  test("a server that is alone has no gap: no other could fill it", async () => {
    const history = await open({ alone: true });
    history.begin(at(50));
    expect(history.gap()).toBeNull();
    expect(history.through()).toBe(50);
  });
});

describe("records of other servers", () => {
  test("a range is in the order of the entries, in pages that fit a message", async () => {
    const history = await open();
    await history.append(archivedBy(9, 5, "2_1", 4));
    await history.append(archivedBy(4, 8));
    await history.append(archivedBy(12, ...Array.from({ length: 1_200 }, (_, n) => 100 + n)));
    expect(await rangeOf(history, 0, 9)).toEqual(["4:8", "9:2_1", "9:4", "9:5"]);
    expect(await rangeOf(history, 4, 9)).toEqual(["9:2_1", "9:4", "9:5"]);
    expect(await rangeOf(history, 9, 11)).toEqual([]);
    const all = await rangeOf(history, 0, 12);
    expect(new Set(all).size).toBe(1_204);
    const pages = [];
    for await (const page of history.range(at(0), at(12))) pages.push(page.length);
    expect(pages.length).toBeGreaterThanOrEqual(3);
  });

  test("records close the gap step by step, also across a crash", async () => {
    let history = await open();
    history.begin(at(50));
    await history.fill([text(3, 1), text(5, 2)], at(4));
    expect(history.gap()).toEqual({ after: 4, through: 50 });
    history = await reopen(history);
    history.begin(at(60));
    expect(history.gap()).toEqual({ after: 4, through: 60 });
    await history.fill([text(5, 2), text(5, 3), text(40, 4)], at(60));
    expect(history.gap()).toBeNull();
    expect(history.through()).toBe(60);
    expect(await history.count()).toBe(4);
    expect(await history.get(idOf(3))).toEqual(finished(3).record);
  });

  test("incomplete records are kept, and the gap stays", async () => {
    const history = await open();
    history.begin(at(50));
    await history.fill([text(3, 1)], null);
    expect(await history.count()).toBe(1);
    expect(history.gap()).toEqual({ after: 0, through: 50 });
    expect(history.through()).toBe(0);
  });
});

/** The directory after a crash, with this progress. */
async function copyOf(folder: string): Promise<string> {
  const copy = join(folder, "crashed");
  await mkdir(copy);
  await copyFile(join(folder, "through.json"), join(copy, "through.json"));
  return copy;
}
