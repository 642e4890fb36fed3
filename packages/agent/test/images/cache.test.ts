// The image cache alone: eviction, recovery after a restart, concurrent requests.

import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CacheFullError, type CacheOptions, type ImageCache, openCache } from "../../src/images/cache.ts";
import { type CacheEntry, planEviction } from "../../src/images/evict.ts";
import { openRegistry } from "../../src/images/open-registry.ts";
import type { ImageRegistry, RegistryImage } from "../../src/images/registry.ts";
import { found } from "../fake-server.ts";
import { type ImageRig, imageRig } from "./image-rig.ts";

const MARKS = { sizeBytes: 1000, highMilli: 900, lowMilli: 700 };
const entry = (digest: string, sizeBytes: number, more: Partial<CacheEntry> = {}): CacheEntry => ({
  digest,
  sizeBytes,
  lastUsedMs: 0,
  sticky: false,
  pins: 0,
  ...more,
});

describe("eviction", () => {
  test.each<[string, CacheEntry[], number, number, unknown]>([
    ["below the high mark nothing goes", [entry("a", 500)], 400, 1e9, { kind: "fits", evict: [] }],
    [
      "above it the oldest go, down to the low mark",
      [entry("new", 400, { lastUsedMs: 9 }), entry("old", 300, { lastUsedMs: 1 }), entry("older", 200)],
      200,
      1e9,
      { kind: "fits", evict: ["older", "old"] },
    ],
    [
      "of the same age the largest goes first",
      [entry("a", 300), entry("b", 600)],
      50,
      1e9,
      { kind: "fits", evict: ["b"] },
    ],
    [
      "what is in use or sticky stays",
      [entry("a", 600, { pins: 1 }), entry("b", 300, { sticky: true })],
      200,
      1e9,
      { kind: "full" },
    ],
    ["larger than the cache", [], 1001, 1e9, { kind: "too_large" }],
    ["the disk is fuller than the cache", [entry("a", 100)], 300, 250, { kind: "fits", evict: ["a"] }],
    ["the disk is full for other reasons", [], 300, 250, { kind: "full" }],
  ])("%s", (_what, entries, needed, free, expected) => {
    expect(planEviction(entries, needed, MARKS, free)).toEqual(expected);
  });

  test("eviction never removes images in use, and an accepted image fits", () => {
    const some = fc.array(
      fc.record({
        digest: fc.uuid(),
        sizeBytes: fc.nat(500),
        lastUsedMs: fc.nat(5),
        sticky: fc.boolean(),
        pins: fc.nat(1),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(some, fc.nat(1200), fc.nat(2000), (entries, needed, free) => {
        const room = planEviction(entries, needed, MARKS, free);
        if (room.kind !== "fits") return true;
        const gone = entries.filter(({ digest }) => room.evict.includes(digest));
        const freed = gone.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        const used = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        const kept = gone.every(({ pins, sticky }) => pins === 0 && !sticky);
        return kept && used - freed + needed <= MARKS.sizeBytes && needed <= free + freed;
      }),
    );
  });
});

describe("the cache", () => {
  let images: ImageRig;
  let folder: string;
  let registry: ImageRegistry;
  const never = new AbortController().signal;
  const opened: ImageCache[] = [];
  const open = async (more: Partial<CacheOptions> = {}): Promise<ImageCache> => {
    const cache = await openCache({
      folder,
      bootId: "boot-1",
      marks: { sizeBytes: 20_000, highMilli: 900, lowMilli: 700 },
      minFreeBytes: 0,
      log: pino({ level: "silent" }),
      removeContainer: async () => undefined,
      ...more,
    });
    opened.push(cache);
    return cache;
  };
  const image = async (name: string): Promise<RegistryImage> => {
    const one = await registry.find(name, never);
    if (one === null) throw new Error(`no ${name}`);
    return one;
  };
  const files = (): string[] => readdirSync(join(folder, "uenv"));

  beforeEach(() => {
    images = imageRig();
    folder = mkdtempSync(join(tmpdir(), "lattice-cache-"));
    registry = openRegistry(images.folder);
    for (const name of ["a/1:v1", "b/1:v1", "c/1:v1", "d/1:v1"]) images.add(name, { "bin/x": name.repeat(700) });
  });
  afterEach(async () => {
    for (const cache of opened.splice(0)) await cache.saved();
    images.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  });

  test("container images evict each other, and one without room is refused", async () => {
    const removed: string[] = [];
    const cache = await open({ removeContainer: async (id) => void removed.push(id) });
    const note = (digest: string, sizeBytes: number, holder: string) =>
      cache.noteContainer({ digest, names: [`r.io/${digest}:1`], sizeBytes }, holder);
    await note("a", 9_000, "1.1");
    cache.release("1.1");
    await note("b", 15_000, "2.1");
    expect(removed).toEqual(["a"]);
    await expect(note("c", 9_000, "3.1")).rejects.toThrow(CacheFullError);
    await expect(note("d", 30_000, "3.1")).rejects.toThrow("more than the cache of 20000 can hold");
    expect(cache.status().images.map(({ digest }) => digest)).toEqual(["b"]);
    expect(cache.held("3.1")).toEqual([]);
    await cache.dropContainer("c");
    await cache.dropContainer("b");
    expect(removed).toEqual(["a", "c"]);
  });

  test("an image requested by two names keeps both", async () => {
    const cache = await open();
    for (const name of ["r.io/x:1", "r.io/x:latest"])
      await cache.noteContainer({ digest: "a", names: [name], sizeBytes: 10 }, "1.1");
    const one = await image("a/1:v1");
    for (const name of ["a/1:v1", "a/1:newest"]) await cache.acquire({ ...one, name }, "1.1", never);
    expect(cache.status().images.map(({ names }) => names)).toEqual([
      ["r.io/x:1", "r.io/x:latest"],
      ["a/1:v1", "a/1:newest"],
    ]);
    expect(cache.known("a/1:v1")?.digest).toBe(one.digest);
  });

  test("pinned images stay, others are evicted by age, and a full cache is an error", async () => {
    const cache = await open({ marks: { sizeBytes: 13_000, highMilli: 900, lowMilli: 700 } });
    await cache.acquire(await image("a/1:v1"), "job-1", never);
    await cache.acquire(await image("b/1:v1"), "job-2", never);
    cache.release("job-2");
    await cache.acquire(await image("c/1:v1"), "job-3", never);
    expect(
      files()
        .map((name) => name[0])
        .sort(),
    ).toEqual(["a", "c"]);
    await cache.acquire(await image("b/1:v1"), "job-4", never).catch(() => undefined);
    await expect(cache.acquire(await image("d/1:v1"), "job-5", never)).rejects.toThrow(CacheFullError);
    cache.release("job-1");
    cache.release("job-4");
    await cache.acquire(await image("d/1:v1"), "job-5", never);
    expect(files().some((name) => name.startsWith("d"))).toBe(true);
    await expect(cache.evict("d/1:v1")).rejects.toThrow("in use by 1 attempt");
  });

  test("a restart uses the index; without one it uses file names after verification", async () => {
    const first = await open();
    const { path, digest } = await first.acquire(await image("a/1:v1"), "job", never);
    await first.stick(digest, true);
    const second = await open();
    expect(second.status().images).toMatchObject([{ digest, sticky: true, verified: true, names: ["a/1:v1"] }]);
    unlinkSync(join(folder, "metadata.json"));
    const third = await open();
    expect(third.status().images).toMatchObject([{ digest, verified: false }]);
    expect(await third.acquire(await image("a/1:v1"), "job", never)).toMatchObject({ path });
    expect(third.status().images).toMatchObject([{ verified: true }]);
    const rebooted = await open({ bootId: "boot-2" });
    expect(rebooted.status().images).toMatchObject([{ verified: false }]);
  });

  test("an image that changed on disk is pulled again", async () => {
    const first = await open();
    const { path } = await first.acquire(await image("a/1:v1"), "job", never);
    const good = readFileSync(path);
    writeFileSync(path, Buffer.alloc(good.length, 1));
    utimesSync(path, 1, 1);
    const second = await open();
    const again = await second.acquire(await image("a/1:v1"), "job", never);
    expect(readFileSync(again.path)).toEqual(good);
    expect(statSync(again.path).mtimeMs).toBeGreaterThan(1000);
  });

  test("an interrupted pull is removed at the next start", async () => {
    await open();
    writeFileSync(join(folder, "incoming", "7"), "half");
    await open();
    expect(readdirSync(join(folder, "incoming"))).toEqual([]);
  });

  test("concurrent requests share one pull, which survives the cancellation of one of them", async () => {
    const cache = await open();
    const one = await image("a/1:v1");
    let reads = 0;
    let proceed = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const slow: RegistryImage = {
      ...one,
      async read(signal) {
        reads += 1;
        await gate;
        return one.read(signal);
      },
    };
    const leaving = new AbortController();
    const [first, second] = [cache.acquire(slow, "job-1", leaving.signal), cache.acquire(slow, "job-2", never)];
    await found(() => reads === 1);
    leaving.abort(new Error("cancelled"));
    await expect(first).rejects.toThrow("cancelled");
    proceed();
    expect((await second).name).toBe("a/1:v1");
    expect(reads).toBe(1);
  });
});
