// A disk that is full or fails: what was refused is never read, what was acknowledged stays, and
// appends work again when the disk does.

import { execFileSync } from "node:child_process";
import { mkdir, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { logIndex } from "@lattice/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type LogError, openEmbeddedLog } from "../../src/log/index.ts";
import { entries, fill, lead, readThrough, textOf } from "./entries.ts";
import { type FaultyFiles, faultyFiles } from "./faulty-files.ts";
import { temporaryDir } from "./temporary-dir.ts";

let dir: string;
let files: FaultyFiles;
beforeEach(async () => {
  dir = await temporaryDir();
  files = faultyFiles();
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 9 }));

const all = async (last: number): Promise<readonly string[]> => {
  const again = await openEmbeddedLog({ dir });
  try {
    expect(again.status().lastIndex).toBe(last);
    return last === 0 ? [] : (await readThrough(again, 1, last)).map(textOf);
  } finally {
    await again.close();
  }
};

describe("a failing append", () => {
  const cases = [
    { name: "no space at all", code: "storage_full", set: { space: 0 } },
    { name: "space for a part of it", code: "storage_full", set: { space: 20 } },
    { name: "a failing fdatasync", code: "unavailable", set: { datasync: "EIO" } },
    { name: "an fdatasync without space", code: "storage_full", set: { datasync: "ENOSPC" } },
    { name: "a quota", code: "storage_full", set: { datasync: "EDQUOT" } },
    {
      name: "a failing fdatasync and a failing truncate",
      code: "unavailable",
      set: { datasync: "EIO", truncate: "EIO" },
    },
    { name: "a part written and a failing truncate", code: "storage_full", set: { space: 20, truncate: "EIO" } },
  ] as const;

  test.each(cases)("$name: the append is refused and never read, and later appends work", async ({ code, set }) => {
    const log = await openEmbeddedLog({ dir, fs: files, segmentBytes: 4096 });
    const leader = await lead(log);
    await fill(log, leader, 1, 3);
    for (let n = 0; n < 3; n += 1) {
      Object.assign(files.faults, set);
      const refused = log.append(leader, entries(leader.term, 4, "refused ".repeat(20), "refused too"));
      // From the second append on, the repair may fail for its own reason.
      const codes = n === 0 ? [code] : [code, "unavailable"];
      await expect(refused).rejects.toSatisfy((cause: LogError) => codes.some((expected) => cause.code === expected));
      expect(log.status()).toMatchObject({
        lastIndex: 3,
        unwritable: expect.stringMatching(/no space left|disk failed/),
      });
    }
    clear();
    expect((await readThrough(log, 1, 3)).map(textOf)).toEqual(["entry 1", "entry 2", "entry 3"]);
    await log.append(leader, entries(leader.term, 4, "good"));
    expect(log.status()).toMatchObject({ lastIndex: 4, unwritable: null });
    await log.close();
    expect(await all(4)).toEqual(["entry 1", "entry 2", "entry 3", "good"]);
  });

  test.each(cases)("$name: the append is refused and absent after a restart", async ({ code, set }) => {
    const log = await openEmbeddedLog({ dir, fs: files, segmentBytes: 4096 });
    const leader = await lead(log);
    await fill(log, leader, 1, 3);
    Object.assign(files.faults, set);
    await expect(log.append(leader, entries(leader.term, 4, "refused"))).rejects.toMatchObject({ code });
    await log.close();
    expect(await all(3)).toEqual(["entry 1", "entry 2", "entry 3"]);
  });

  test("no space for another segment: the append is refused without remains, and later appends work", async () => {
    const log = await openEmbeddedLog({ dir, fs: files, segmentBytes: 1024 });
    const leader = await lead(log);
    await fill(log, leader, 1, 3, 280);
    for (const set of [{ open: "ENOSPC" }, { rename: "ENOSPC" }, { space: 0 }, { datasync: "ENOSPC" }]) {
      Object.assign(files.faults, set);
      const large = entries(leader.term, 4, "y".repeat(900));
      await expect(log.append(leader, large)).rejects.toMatchObject({ code: "storage_full" });
      clear();
    }
    await fill(log, leader, 4, 9, 280);
    await log.close();
    expect(await all(9)).toHaveLength(9);
  });

  test("short writes are continued", async () => {
    const log = await openEmbeddedLog({ dir, fs: files });
    const leader = await lead(log);
    files.faults.shortWrites = 7;
    await fill(log, leader, 1, 5);
    await log.close();
    expect(await all(5)).toHaveLength(5);
  });
});

test("a batch is one write and one fdatasync", async () => {
  const log = await openEmbeddedLog({ dir, fs: files });
  const leader = await lead(log);
  await fill(log, leader, 1, 1);
  files.done.length = 0;
  await log.append(leader, entries(leader.term, 2, ..."abcdefghij"));
  expect(files.done).toEqual(["write", "datasync"]);
  await log.close();
});

test("status becomes writable with the disk, without an append", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const log = await openEmbeddedLog({ dir, fs: files });
    const leader = await lead(log);
    Object.assign(files.faults, { datasync: "EIO", truncate: "EIO" });
    await expect(log.append(leader, entries(leader.term, 1, "a"))).rejects.toMatchObject({ code: "unavailable" });
    await vi.advanceTimersByTimeAsync(1000);
    expect(log.status().unwritable).not.toBeNull();
    clear();
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(1000);
      expect(log.status().unwritable).toBeNull();
    }, 60_000);
    await log.close();
  } finally {
    vi.useRealTimers();
  }
});

test("a snapshot without space is refused and leaves nothing", async () => {
  const log = await openEmbeddedLog({ dir, fs: files });
  const leader = await lead(log);
  await fill(log, leader, 1, 2);
  await log.saveSnapshot({ index: logIndex(1), term: leader.term }, ["one"]);
  files.faults.space = 10;
  const saving = log.saveSnapshot({ index: logIndex(2), term: leader.term }, ["two".repeat(10)]);
  await expect(saving).rejects.toMatchObject({ code: "storage_full" });
  clear();
  expect((await log.loadSnapshot())?.info.index).toBe(1);
  await log.close();
});

test("no candidate leads while the term cannot be written", async () => {
  const log = await openEmbeddedLog({ dir, fs: files });
  files.faults.rename = "EIO";
  let won = false;
  const winning = lead(log).then((leader) => {
    won = true;
    return leader;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(won).toBe(false);
  clear();
  expect((await winning).term).toBe(1);
  await log.close();
});

// Mounting needs root; other users have the injected faults above.
test.runIf(process.getuid?.() === 0)("a file system that is really full", async () => {
  const mounted = join(dir, "small");
  await mkdir(mounted);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", mounted]);
  } catch {
    return; // root without permission to mount, as in a container
  }
  try {
    const log = await openEmbeddedLog({ dir: join(mounted, "log"), segmentBytes: 128 * 1024 });
    const leader = await lead(log);
    const ballast = join(mounted, "ballast");
    await writeFile(ballast, Buffer.alloc(200 * 1024));
    let last = 0;
    let code = "";
    while (code === "" && last < 1000) {
      await log.append(leader, entries(leader.term, last + 1, "z".repeat(1000))).then(
        () => {
          last += 1;
        },
        (cause: unknown) => {
          code = (cause as { code: string }).code;
        },
      );
    }
    expect(code).toBe("storage_full");
    expect(last).toBeGreaterThan(50);
    expect(log.status().unwritable).toContain("no space left");
    await unlink(ballast);
    await fill(log, leader, last + 1, last + 5);
    expect(log.status()).toMatchObject({ lastIndex: last + 5, unwritable: null });
    await log.close();
    const again = await openEmbeddedLog({ dir: join(mounted, "log") });
    expect(await readThrough(again, 1, last + 5)).toHaveLength(last + 5);
    await again.close();
  } finally {
    execFileSync("umount", [mounted]);
  }
});

function clear(): void {
  for (const name of Object.keys(files.faults)) delete files.faults[name as keyof typeof files.faults];
}
