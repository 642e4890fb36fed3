// `lattice logs`: the streams, and the notes about pending and failed allocations.

import { expect, test } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const at = "/api/v1/allocations/5";

function scripted(state: object): void {
  // Writes are text or bytes; the bytes in these tests are ASCII.
  rig.answers = {
    [`GET ${at}`]: [200, { id: "5", spec: {}, ...state }],
    [`GET ${at}/logs?stream=stdout`]: [200, "to out\n"],
    [`GET ${at}/logs?stream=stderr`]: [200, "to err\n"],
    [`GET ${at}/logs/stream?stream=stdout&format=ndjson`]: [200, piece("stdout", "followed out\n")],
    [`GET ${at}/logs/stream?stream=stderr&format=ndjson`]: [200, piece("stderr", "followed err\n")],
  };
}

/** One line of a followed log. */
const piece = (stream: string, text: string): string =>
  `${JSON.stringify({ node: "n1", stream, attempt: 1, offset: String(text.length), data: btoa(text) })}\n`;

test.each<[string[], string, string]>([
  [[], "to out\n", "to err\n"],
  [["--stdout"], "to out\n", ""],
  [["--stderr"], "", "to err\n"],
  [["--stdout", "--stderr"], "to out\n", "to err\n"],
  [["-f"], "followed out\n", "followed err\n"],
  [["-f", "--stdout"], "followed out\n", ""],
])("logs %j writes each stream to its own", async (flags, out, err) => {
  scripted({ state: "completed", exit_code: 0 });
  expect(await rig.run("logs", "5", ...flags)).toBe(0);
  expect([rig.out, rig.err]).toEqual([out, err]);
});

test("a gap in followed output is marked by a line", async () => {
  scripted({ state: "completed", exit_code: 0 });
  const late = { node: "n1", stream: "stdout", attempt: 1, offset: "70", skipped: "65", data: btoa("late\n") };
  rig.answers = {
    ...rig.answers,
    [`GET ${at}/logs/stream?stream=stdout&format=ndjson`]: [200, `${JSON.stringify(late)}\n`],
  };
  expect(await rig.run("logs", "5", "-f", "--stdout")).toBe(0);
  expect(rig.out).toBe("[lattice: 65 bytes of earlier output are no longer kept on n1]\nlate\n");
});

test("a pending allocation shows its reasons and no log is requested", async () => {
  scripted({ state: "pending", pending_reasons: ["waiting for 2 nodes", "behind 4"] });
  expect(await rig.run("logs", "5")).toBe(0);
  expect(rig.err).toBe("allocation 5 is pending: waiting for 2 nodes; behind 4\n");
  expect(rig.requests).toEqual([`GET ${at}`]);
});

test("following a pending allocation shows its reasons and waits", async () => {
  scripted({ state: "pending" });
  expect(await rig.run("logs", "5", "-f")).toBe(0);
  expect(rig.err).toBe("allocation 5 is pending\nfollowed err\n");
  expect(rig.out).toBe("followed out\n");
});

test.each<[object, string]>([
  [{ state: "failed", reason: "exit_code", exit_code: 7 }, "allocation 5 failed: exit code 7"],
  [{ state: "failed", reason: "walltime_exceeded" }, "allocation 5 failed: walltime_exceeded"],
  [{ state: "cancelled", reason: "by ada" }, "allocation 5 was cancelled: by ada"],
])("the end %j is noted after the output", async (state, output) => {
  scripted(state);
  expect(await rig.run("logs", "5", "--follow")).toBe(0);
  expect(rig.err).toBe(`followed err\n${output}\n`);
});

test("JSON output names the stream", async () => {
  scripted({ state: "completed" });
  await rig.run("logs", "5", "-o", "json");
  expect(
    rig.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { id: "5", stream: "stdout", data: "to out\n" },
    { id: "5", stream: "stderr", data: "to err\n" },
  ]);
});

test("logs of an unknown allocation fail", async () => {
  expect(await rig.run("logs", "9")).toBe(3);
  expect(rig.out).toBe("");
});
