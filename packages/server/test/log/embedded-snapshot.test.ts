// Saving a large snapshot must not hold up the server.

import { rm } from "node:fs/promises";
import { logIndex } from "@lattice/core";
import { expect, test } from "vitest";
import { openLog } from "../../src/log/index.ts";
import { entries, fill, lead } from "./entries.ts";
import { temporaryDir } from "./temporary-dir.ts";

test("the event loop runs and appends continue while a snapshot is written", async () => {
  const dir = await temporaryDir();
  const log = await openLog({ engine: "embedded", dir });
  const leader = await lead(log);
  await fill(log, leader, 1, 1);
  let taken = 0;
  function* lines(): Generator<string> {
    for (; taken < 50_000; taken += 1) yield `{"n":${taken},"text":"${"x".repeat(200)}"}`;
  }
  const saving = log.saveSnapshot({ index: logIndex(1), term: leader.term }, lines());
  const takenAtTurns = new Set<number>();
  let saved = false;
  void saving.then(() => {
    saved = true;
  });
  for (let index = 2; !saved; index += 1) {
    await log.append(leader, entries(leader.term, index, "meanwhile"));
    takenAtTurns.add(taken);
  }
  expect(takenAtTurns.size).toBeGreaterThan(5); // it was seen in the middle, and often
  let count = 0;
  for await (const line of (await log.loadSnapshot())?.lines ?? []) {
    if (count === 49_999) expect(line.startsWith('{"n":49999,')).toBe(true);
    count += 1;
  }
  expect(count).toBe(50_000);
  await log.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 9 });
});
