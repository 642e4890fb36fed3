// Commands that stop work or give something up: on a terminal they ask first, --yes skips the question, and scripts,
// which have no terminal, go on.

import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useScripted } from "./scripted.ts";

const rig = useScripted();
const before = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");

beforeEach(() => {
  Object.defineProperty(process.stderr, "isTTY", { value: true, configurable: true });
  rig.answers = { "POST /api/v1/nodes/n1/drain": [200, { node: { id: "n1", state: "draining" } }] };
});
afterEach(() => {
  if (before === undefined) Reflect.deleteProperty(process.stderr, "isTTY");
  else Object.defineProperty(process.stderr, "isTTY", before);
});

/** Somebody at a terminal who types this; null: there is no terminal. */
function typing(line: string | null): void {
  const input = Object.assign(new PassThrough(), { isTTY: line !== null });
  if (line !== null) input.write(`${line}\n`);
  vi.spyOn(process, "stdin", "get").mockReturnValue(input as unknown as typeof process.stdin);
}

const COMMANDS: readonly [words: string[], question: string, request: RegExp][] = [
  [["dag", "cancel", "dag-1"], "Cancel DAG dag-1, with all members", /dag-1/],
  [["node", "drain", "--urgent", "n1"], "Drain node n1 at once?", /n1\/drain/],
  [["admin", "drain", "--urgent", "n1"], "Drain node n1 at once?", /n1\/drain/],
  [["admin", "raft", "remove-member", "server-2"], "Remove the member server-2?", /server-2/],
  [["admin", "restore", "/b/one"], "Put /b/one into the cluster at http", /restore/],
];

test.each(COMMANDS)("%j asks, and without a yes nothing happens", async (words, question) => {
  for (const answer of ["n", "", "perhaps"]) {
    rig.err = "";
    typing(answer);
    expect(await rig.run(...words)).toBe(2);
    expect(rig.err).toContain(question);
    expect(rig.err).toContain("Use --yes");
  }
  expect(rig.requests).toEqual([]);
});

test.each(COMMANDS)("%j goes on after a yes", async (words, question, request) => {
  typing("y");
  await rig.run(...words);
  expect(rig.err).toContain(question);
  expect(rig.requests).toEqual([expect.stringMatching(request)]);
});

test.each(COMMANDS)("%j asks nothing with --yes, nor without a terminal", async (words, question, request) => {
  typing("n");
  await rig.run(...words, "--yes");
  typing(null);
  await rig.run(...words);
  expect(rig.err).not.toContain(question);
  expect(rig.requests).toEqual([expect.stringMatching(request), expect.stringMatching(request)]);
});

test("a drain that lets work end asks nothing", async () => {
  typing("n");
  expect(await rig.run("node", "drain", "n1"), rig.err).toBe(0);
});
