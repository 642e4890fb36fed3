// The spinner: on a terminal, and neither with --quiet nor for structured output.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { progressText } from "../src/commands/dag/wait.ts";
import { useScripted } from "./scripted.ts";

const V = "/api/v1";
const rig = useScripted();
const before = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
const onTerminal = (value: boolean): void => {
  Object.defineProperty(process.stderr, "isTTY", { value, configurable: true });
};

beforeEach(() => onTerminal(true));
afterEach(() => {
  if (before === undefined) Reflect.deleteProperty(process.stderr, "isTTY");
  else Object.defineProperty(process.stderr, "isTTY", before);
});

const backup = { source: "/b/one", created_at: "2026-03-05T12:00:00Z", log_index: "42" };
const ended = { id: "34", state: "completed" };

const COMMANDS: readonly [words: string[], shown: string][] = [
  [["admin", "backup", "create"], "Writing a backup"],
  [["admin", "backup", "verify", "/b/one"], "Reading /b/one"],
  [["admin", "restore", "/b/one", "--yes"], "Restoring /b/one"],
  [["checkpoint", "--wait", "34"], "Checkpoint 2 of allocation 34"],
  [["cache", "warm", "--image=gnu/1:v1"], "Pulling gnu/1:v1 to the nodes"],
  [["submit", "--wait", "--", "true"], "Allocation 34 is pending"],
];

describe.each(COMMANDS)("%j", (words, shown) => {
  beforeEach(() => {
    rig.answers = {
      [`POST ${V}/admin/backup`]: [200, backup],
      [`POST ${V}/admin/backup/verify`]: [200, { ok: true, backup, checks: [] }],
      [`POST ${V}/admin/restore`]: [200, { backup, log_index: "50" }],
      [`POST ${V}/allocations/34/checkpoint`]: [200, { current: { number: 2 } }],
      [`GET ${V}/allocations/34/checkpoint`]: [200, { last: { number: 2 } }],
      [`POST ${V}/cache/warm`]: [200, { nodes: [] }],
      [`POST ${V}/allocations`]: [200, { id: "34" }],
      [`GET ${V}/allocations/34`]: [200, ended],
      [`GET ${V}/events`]: (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(),
    };
  });

  test("shows a spinner on a terminal and removes it", async () => {
    expect(await rig.run(...words), rig.err).toBe(0);
    expect(rig.err).toContain(shown);
    const left = rig.err.split("\r\u001b[K").at(-1);
    expect(left).not.toContain(shown);
  });

  test("is silent without a terminal, with --quiet and with JSON", async () => {
    expect(await rig.run("-q", ...words), rig.err).toBe(0);
    expect(await rig.run("-o", "json", ...words), rig.err).toBe(0);
    onTerminal(false);
    expect(await rig.run(...words), rig.err).toBe(0);
    expect(rig.err).not.toContain(shown);
  });
});

test("the progress of a DAG counts ended members", () => {
  const members = [
    { name: "a", state: "completed" },
    { name: "b", state: "running" },
    { name: "c", state: "running" },
    { name: "d", state: "pending" },
  ] as const;
  expect(
    progressText({ members: members.map((one) => ({ ...one, allocation_id: "1", reason: "", depends_on: [] })) }),
  ).toBe("1 of 4 ended, b, c running");
  expect(progressText({ members: [] })).toBe("0 of 0 ended");
});
