// The memory engine beyond the contract: faults, and the loss of a lease.

import { expect, test } from "vitest";
import { createMemoryStore, LogError, openLog, openMemoryLog } from "../../src/log/index.ts";
import { entries, lead, readThrough, textOf } from "./entries.ts";

test("a fault before an append refuses it, and status reports it until one succeeds", async () => {
  let full = true;
  const log = openMemoryLog({
    faults: {
      beforeAppend: () => {
        if (full) throw new LogError("storage_full", "no space");
      },
    },
  });
  const leader = await lead(log);
  await expect(log.append(leader, entries(leader.term, 1, "a"))).rejects.toMatchObject({ code: "storage_full" });
  expect(log.status()).toMatchObject({ lastIndex: 0, unwritable: "no space" });
  full = false;
  await log.append(leader, entries(leader.term, 1, "b"));
  expect(log.status()).toMatchObject({ lastIndex: 1, unwritable: null });
  expect((await readThrough(log, 1, 1)).map(textOf)).toEqual(["b"]);
});

test("a fault after an append leaves the entry in the log", async () => {
  const faults = { afterAppend: () => Promise.reject(new LogError("unavailable", "answer lost")) };
  const log = openMemoryLog({ faults });
  const leader = await lead(log);
  await expect(log.append(leader, entries(leader.term, 1, "a"))).rejects.toMatchObject({ code: "unavailable" });
  expect((await readThrough(log, 1, 1)).map(textOf)).toEqual(["a"]);
});

test("a leader deposed during a delayed append writes nothing", async () => {
  const store = createMemoryStore();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const one = openMemoryLog({ store, faults: { beforeAppend: () => held } });
  const two = openMemoryLog({ store });
  const old = await lead(one, "one");
  const appending = one.append(old, entries(old.term, 1, "old"));
  const refused = expect(appending).rejects.toMatchObject({ code: "lost_leadership" });
  const winning = lead(two, "two");
  store.election.depose();
  expect(old.lost.aborted).toBe(true);
  release();
  await refused;
  const won = await winning;
  await two.append(won, entries(won.term, 1, "new"));
  expect((await readThrough(one, 1, 1)).map(textOf)).toEqual(["new"]);
  expect(await two.members()).toMatchObject([{ leader: false }, { leader: true }]);
});

test("after the leader's handle closes, the next candidate leads", async () => {
  const store = createMemoryStore();
  const one = openMemoryLog({ store });
  const two = openMemoryLog({ store });
  const first = await lead(one, "one");
  const winning = lead(two, "two");
  await one.close();
  expect((await winning).term).toBe(first.term + 1);
  expect(two.status().leader).toBe("two");
});

test("openLog opens a memory log", async () => {
  const log = await openLog({ engine: "memory" });
  expect(log.status().engine).toBe("memory");
  await log.close();
});
