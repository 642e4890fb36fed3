// Reports as the server receives them.

import { expect, test } from "vitest";
import { reportMessage } from "../../src/link/messages.ts";

const report = { number: 1, allocationId: "7", attempt: 1 };
const end = { kind: "completed", exitCode: 0, message: "", atMs: 40_000 } as const;

test("a report that is sent again states how long ago the process ended", () => {
  expect(reportMessage({ ...report, body: { kind: "end", end } }, 41_000).ageMs).toBe(1_000);
  expect(reportMessage({ ...report, body: { kind: "end", end } }, 100_000).ageMs).toBe(60_000);
});

test("an event after a step back of the clock has no negative age", () => {
  expect(reportMessage({ ...report, body: { kind: "running", atMs: 40_000 } }, 30_000).ageMs).toBe(0);
});
