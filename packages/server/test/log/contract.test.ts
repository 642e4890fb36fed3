// The one contract test, run over every engine: memory and embedded.

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMemoryStore, openEmbeddedLog, openMemoryLog } from "../../src/log/index.ts";
import { logContract } from "./contract.ts";
import { temporaryDir } from "./temporary-dir.ts";

logContract("memory", async (maxEntryBytes) => {
  const store = createMemoryStore();
  const damaged = new Set<number>();
  return {
    open: async () => openMemoryLog({ store, maxEntryBytes }),
    rival: () => openMemoryLog({ store, maxEntryBytes, name: "rival" }),
    damageNewestSnapshot: async () => {
      const newest = store.snapshots.findLast((snapshot) => !damaged.has(snapshot.info.index));
      if (newest === undefined) return;
      newest.corrupt = true;
      damaged.add(newest.info.index);
    },
    cleanUp: async () => undefined,
  };
});

logContract("embedded", async (maxEntryBytes) => {
  const dir = await temporaryDir();
  const damaged = new Set<string>();
  return {
    open: () => openEmbeddedLog({ dir, maxEntryBytes, segmentBytes: 4096 }),
    rival: (log) => log,
    damageNewestSnapshot: async () => {
      const at = (name: string): number => Number(name.split("-")[1]);
      const names = (await readdir(join(dir, "snapshots"))).filter((name) => !damaged.has(name));
      const newest = names.sort((a, b) => at(b) - at(a))[0];
      if (newest === undefined) return;
      damaged.add(newest);
      const path = join(dir, "snapshots", newest);
      const content = await readFile(path);
      content[0] = (content[0] ?? 0) ^ 1;
      await writeFile(path, content);
    },
    cleanUp: () => rm(dir, { recursive: true, force: true, maxRetries: 9 }),
  };
});
