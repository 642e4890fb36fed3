// Waiting for an entry to be applied ends with the entry or with the signal, also one that has ended before.

import { logIndex } from "@lattice/core";
import { expect, test } from "vitest";
import { openMemoryLog } from "../../../src/log/index.ts";
import { openReplica } from "../../../src/state/replica/replica.ts";

test("a wait whose signal has ended rejects", async () => {
  const replica = await openReplica(openMemoryLog(), () => undefined);
  const gone = new AbortController();
  const waiting = replica.waitFor(logIndex(9), gone.signal);
  gone.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(replica.waitFor(logIndex(9), gone.signal)).rejects.toThrow("gone");
  await replica.waitFor(logIndex(0), gone.signal);
  await replica.close();
});
