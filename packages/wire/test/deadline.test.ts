// A deadline is kept however often memory is tidied meanwhile.
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { withDeadline } from "../src/deadline.ts";

setFlagsFromString("--expose-gc");
const tidyMemory: () => void = runInNewContext("gc");
const reasonOf = (signal: AbortSignal): Promise<{ name: string }> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));

test("a deadline fires after its creator was collected", async () => {
  const reasons = Array.from({ length: 10 }, () => reasonOf(withDeadline(new AbortController().signal, 50)));
  for (let round = 0; round < 4; round += 1) {
    tidyMemory();
    await pause(5);
  }
  expect((await Promise.all(reasons)).map(({ name }) => name)).toEqual(Array(10).fill("TimeoutError"));
});

test("an earlier abort keeps its reason", async () => {
  const caller = new AbortController();
  const signal = withDeadline(caller.signal, 60_000);
  caller.abort(new Error("no longer wanted"));
  expect(signal.reason).toMatchObject({ message: "no longer wanted" });
});
