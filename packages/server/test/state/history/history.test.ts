// History: appended records are read back, despite repetitions, torn writes and deleted files.

import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, rmdir, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type History, openHistory } from "../../../src/state/history/index.ts";
import { createWorkerLink } from "../../../src/state/history/worker-link.ts";
import { finished, idOf } from "./records.ts";

let dir: string;
let warnings: string[];
let history: History;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lattice-history-"));
  warnings = [];
  history = await open();
});
afterEach(async () => {
  await history.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 9 });
});

const open = (segmentBytes = 8 * 1024): Promise<History> =>
  openHistory({ dir, segmentBytes, onWarning: (text) => warnings.push(text) });
const segmentFiles = async (): Promise<readonly string[]> =>
  (await readdir(dir))
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(dir, name));
const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);
const ids = async (query: Parameters<History["list"]>[0]): Promise<readonly string[]> =>
  (await history.list(query)).map((record) => record.id);

async function closed(): Promise<void> {
  await history.close();
}

describe("append and get", () => {
  test("a record is read back unchanged, an unknown one is null", async () => {
    await history.append([finished(1), finished("2_7")]);
    expect(await history.get(idOf(1))).toEqual(finished(1).record);
    expect(await history.get(idOf("2_7"))).toEqual(finished("2_7").record);
    expect(await history.get(idOf(2))).toBeNull();
    expect(await history.count()).toBe(2);
  });

  test("repeating records changes nothing", async () => {
    await history.append([finished(1, { name: "first" }), finished(2), finished(1, { name: "again" })]);
    const [before] = await history.segments();
    await history.append([finished(2, { name: "again" }), finished(1, { name: "again" })]);
    expect(await history.count()).toBe(2);
    expect((await history.get(idOf(1)))?.spec.name).toBe("first");
    expect((await history.segments())[0]).toEqual(before);
  });

  test("concurrent appends are all readable, and flush waits for them", async () => {
    for (const n of numbers(1, 300)) void history.append([finished(n)]);
    await history.flush();
    expect(await history.count()).toBe(300);
  });

  test("unwritten records are retried, and flush reports them", async () => {
    const inTheWay = join(dir, "history-00000001.jsonl");
    await mkdir(inTheWay);
    await expect(history.append([finished(1)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(history.append([finished(2)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(history.flush()).rejects.toMatchObject({ code: "unavailable" });
    await rmdir(inTheWay);
    await history.flush();
    expect(await ids({ limit: 10 })).toEqual(["2", "1"]);
  });

  test("an empty flush does not affect later appends", async () => {
    await history.flush();
    await history.append([finished(1)]);
    await history.flush();
    await history.flush();
    await history.append([finished(2)]);
    await history.flush();
    expect(await ids({ limit: 10 })).toEqual(["2", "1"]);
  });

  test("an appended record is readable before it is written", async () => {
    await history.append(numbers(1, 4).map((n) => finished(n)));
    const inTheWay = join(dir, "history-00000001.jsonl");
    await closed();
    const kept = await readFile(inTheWay);
    history = await open(1);
    await mkdir(join(dir, "history-00000002.jsonl"));
    await expect(history.append([finished(5, { user: "bob" }), finished("6_1"), finished(3)])).rejects.toThrow();
    expect(history.waiting()).toBe(3);
    expect(await history.get(idOf(5))).toEqual(finished(5, { user: "bob" }).record);
    expect(await ids({ limit: 10 })).toEqual(["6_1", "5", "4", "3", "2", "1"]);
    expect(await ids({ limit: 2, before: idOf(6) })).toEqual(["5", "4"]);
    expect(await ids({ limit: 2, user: "bob" })).toEqual(["5"]);
    expect(await ids({ limit: 0 })).toEqual([]);
    await rmdir(join(dir, "history-00000002.jsonl"));
    await history.flush();
    expect(history.waiting()).toBe(0);
    expect(await ids({ limit: 10 })).toEqual(["6_1", "5", "4", "3", "2", "1"]);
    expect((await readFile(inTheWay)).subarray(0, kept.length)).toEqual(kept);
  });

  test("no waiting record is dropped", async () => {
    const inTheWay = join(dir, "history-00000001.jsonl");
    await closed();
    history = await open(64 * 1024 * 1024);
    await mkdir(inTheWay);
    const { index, record } = finished(1);
    const many = numbers(1, 100_000).map((n) => ({ index, record: { ...record, id: idOf(n) } }));
    await expect(history.append(many)).rejects.toMatchObject({ code: "unavailable" });
    await expect(history.append([finished(100_001)])).rejects.toMatchObject({ code: "unavailable" });
    await expect(history.flush()).rejects.toMatchObject({ code: "unavailable" });
    expect(history.waiting()).toBe(100_001);
    await rmdir(inTheWay);
    await history.flush();
    expect(history.waiting()).toBe(0);
    expect(await history.count()).toBe(100_001);
  });

  test("closing reports unwritten records", async () => {
    await mkdir(join(dir, "history-00000001.jsonl"));
    await expect(history.append([finished(1)])).rejects.toThrow();
    await history.close();
    expect(warnings).toContain("1 history records not written; the log still has them");
  });

  test("after closing, calls are refused", async () => {
    await history.append([finished(1)]);
    await history.close();
    await history.close();
    await expect(history.append([finished(2)])).rejects.toMatchObject({ code: "closed" });
    await expect(history.get(idOf(1))).rejects.toMatchObject({ code: "closed" });
  });
});

describe("list", () => {
  const everything = ["10", "9_10", "9_2", "9_0", "3", "2", "1"];
  const cases = [
    { name: "everything, newest first", query: { limit: 100 }, expected: everything },
    { name: "a limit", query: { limit: 2 }, expected: ["10", "9_10"] },
    { name: "nothing", query: { limit: 0 }, expected: [] },
    { name: "before", query: { limit: 3, before: idOf("9_10") }, expected: ["9_2", "9_0", "3"] },
    { name: "before a whole group", query: { limit: 100, before: idOf(9) }, expected: ["3", "2", "1"] },
    { name: "user", query: { limit: 100, user: "bob" }, expected: ["9_2", "2"] },
    { name: "tenant", query: { limit: 100, tenant: "biology" }, expected: ["3"] },
    { name: "vcluster", query: { limit: 100, vcluster: "service" }, expected: ["3"] },
    { name: "name", query: { limit: 100, name: "train" }, expected: ["10", "2"] },
    { name: "states", query: { limit: 100, states: ["failed", "cancelled"] }, expected: ["9_0", "3", "2"] },
    {
      name: "no states named",
      query: { limit: 100, states: [] },
      expected: everything,
    },
    { name: "all at once", query: { limit: 1, user: "ann", states: ["failed"], before: idOf(5) }, expected: ["3"] },
    { name: "text that is no SQL", query: { limit: 1, user: "' OR 1=1 --" }, expected: [] },
  ];

  test("every condition, alone and together", async () => {
    await history.append([
      finished(1, { user: "ann", tenant: "physics", state: "completed" }),
      finished(2, { user: "bob", tenant: "physics", state: "failed", name: "train" }),
      finished(3, { user: "ann", tenant: "biology", state: "failed", vcluster: "service" }),
      finished("9_0", { user: "ann", state: "cancelled" }),
      finished("9_10", { user: "ann" }),
      finished("9_2", { user: "bob" }),
      finished(10, { user: "ann", name: "train" }),
    ]);
    for (const { name, query, expected } of cases) expect(await ids(query), name).toEqual(expected);
  });
});

describe("opening again", () => {
  test("records survive reopening, and appends continue", async () => {
    await history.append(numbers(1, 50).map((n) => finished(n)));
    await closed();
    history = await open();
    expect(await history.count()).toBe(50);
    await history.append(numbers(40, 60).map((n) => finished(n)));
    expect(await ids({ limit: 100 })).toEqual([...numbers(1, 60)].reverse().map(String));
    expect(warnings).toEqual([]);
  });

  test("segments are closed by size and list what a backup needs", async () => {
    for (const n of numbers(1, 60)) await history.append([finished(n)]);
    const segments = await history.segments();
    expect(segments.length).toBeGreaterThan(3);
    expect(segments.reduce((sum, segment) => sum + segment.records, 0)).toBe(60);
    expect(segments.slice(0, -1).every((segment) => /^[0-9a-f]{64}$/.test(segment.sha256 ?? ""))).toBe(true);
    for (const segment of segments) expect((await readFile(segment.path)).length).toBe(segment.bytes);
    const firstLine = (await readFile(segments[0]?.path ?? "", "utf8")).split("\n")[0] ?? "";
    expect(JSON.parse(firstLine)).toMatchObject({ index: 7, record: { id: "1" } });
    expect(await history.verify()).toEqual([]);
    await closed();
    history = await open();
    expect(await history.segments()).toEqual(segments);
  });

  test.each([
    { name: "deleted", damage: (path: string) => rm(path) },
    { name: "not a database", damage: (path: string) => writeFile(path, "nonsense ".repeat(1000)) },
    { name: "empty", damage: (path: string) => truncate(path, 0) },
  ])("an index that is $name is rebuilt", async ({ damage }) => {
    for (const n of numbers(1, 60)) await history.append([finished(n, { user: n % 2 === 0 ? "ann" : "bob" })]);
    const before = await history.segments();
    await closed();
    await damage(join(dir, "index.db"));
    for (const suffix of ["-wal", "-shm"]) await rm(join(dir, `index.db${suffix}`), { force: true });
    history = await open();
    expect(await history.count()).toBe(60);
    expect(await ids({ limit: 2, user: "bob" })).toEqual(["59", "57"]);
    expect(await history.get(idOf(3))).toEqual(finished(3, { user: "bob" }).record);
    expect(await history.segments()).toEqual(before);
  });

  test("an index behind the segments catches up", async () => {
    await history.append([finished(1)]);
    await closed();
    const old = await readFile(join(dir, "index.db"));
    history = await open();
    for (const n of numbers(2, 60)) await history.append([finished(n)]);
    await closed();
    await writeFile(join(dir, "index.db"), old);
    history = await open();
    expect(await history.count()).toBe(60);
    expect(await ids({ limit: 1 })).toEqual(["60"]);
  });
});

describe("damage", () => {
  test("a torn last line is truncated, and the record can be appended again", async () => {
    await history.append([finished(1), finished(2)]);
    await closed();
    const [path = ""] = await segmentFiles();
    const whole = await readFile(path);
    const start = whole.indexOf(10) + 1;
    for (const length of [start + 1, start + 17, start + 18, start + 100, whole.length - 2, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      warnings = [];
      history = await open();
      expect(await history.count()).toBe(1);
      expect(warnings).toEqual([`${path}: truncated an incomplete record at offset ${start}`]);
      await history.append([finished(2)]);
      expect(await history.get(idOf(2))).toEqual(finished(2).record);
      await closed();
    }
    expect(await readFile(path)).toEqual(whole);
  });

  test("bytes after the last line are truncated", async () => {
    await history.append([finished(1)]);
    await closed();
    const [path = ""] = await segmentFiles();
    await appendFile(path, Buffer.alloc(50));
    history = await open();
    await history.append([finished(2)]);
    await closed();
    history = await open();
    expect(await history.count()).toBe(2);
  });

  test("a flipped bit in a closed segment is reported, and the rest is served", async () => {
    for (const n of numbers(1, 40)) await history.append([finished(n)]);
    await closed();
    const [path = ""] = await segmentFiles();
    const content = await readFile(path);
    const at = content.indexOf("echo hello");
    content[at] = (content[at] ?? 0) ^ 1;
    await writeFile(path, content);
    history = await open();
    await vi.waitFor(() => expect(warnings.some((text) => text.startsWith(`${path}: 1 of `))).toBe(true), 60_000);
    expect(await history.verify()).toEqual([expect.stringContaining("do not match their checksum")]);
    await expect(history.get(idOf(1))).rejects.toMatchObject({ code: "corrupt" });
    expect(await ids({ limit: 100 })).toEqual([...numbers(2, 40)].reverse().map(String));
  });

  test("a closed segment that has lost a line, or itself, is reported", async () => {
    for (const n of numbers(1, 60)) await history.append([finished(n)]);
    await closed();
    const [first = "", second = ""] = await segmentFiles();
    const lines = (await readFile(first, "utf8")).split("\n");
    await writeFile(first, [...lines.slice(0, 1), ...lines.slice(2)].join("\n"));
    await rm(second);
    history = await open();
    expect(warnings.some((text) => text.includes("rebuilt from the segments"))).toBe(true);
    expect(await history.verify()).toEqual([expect.stringMatching(/records where \d+ were written/)]);
    expect(await history.get(idOf(60))).toEqual(finished(60).record);
  });
});

test("an unusable directory is reported, and the history works once it is usable", async () => {
  const taken = join(dir, "taken");
  await writeFile(taken, "a file");
  const link = createWorkerLink({ dir: taken, segmentBytes: 1024 }, (text) => warnings.push(text));
  await expect(link.ready()).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("EEXIST") });
  await rm(taken);
  expect(await link.call("count")).toBe(0);
  await link.close();
});

test("twenty thousand records", async () => {
  const many = numbers(1, 20_000).map((n) =>
    finished(n, { user: `user-${n % 50}`, state: n % 10 === 0 ? "failed" : "completed" }),
  );
  await closed();
  history = await open(4 * 1024 * 1024);
  await history.append(many);
  expect(await history.count()).toBe(20_000);
  expect(await ids({ limit: 3, user: "user-7" })).toEqual(["19957", "19907", "19857"]);
  expect(await ids({ limit: 2, user: "user-10", states: ["failed"], before: idOf(1000) })).toEqual(["960", "910"]);
  expect(await history.list({ limit: 1_000_000 })).toHaveLength(10_000);
  await closed();
  await rm(join(dir, "index.db"));
  history = await open(4 * 1024 * 1024);
  expect(await history.count()).toBe(20_000);
});
