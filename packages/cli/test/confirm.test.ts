// Commands that stop work or delete something ask on a terminal; --yes skips the question, and scripts without a
// terminal proceed.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
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

/** The answer of a user at a terminal; `null` without a terminal. */
function typing(line: string | null): void {
  const input = Object.assign(new PassThrough(), { isTTY: line !== null });
  if (line !== null) input.write(`${line}\n`);
  vi.spyOn(process, "stdin", "get").mockReturnValue(input as unknown as typeof process.stdin);
}

const COMMANDS: readonly [words: string[], question: string, request: RegExp][] = [
  [["dag", "cancel", "dag-1"], "Cancel DAG dag-1 and all members", /dag-1/],
  [["node", "drain", "--urgent", "n1"], "Drain node n1 at once?", /n1\/drain/],
  [["admin", "drain", "--urgent", "n1"], "Drain node n1 at once?", /n1\/drain/],
  [["admin", "raft", "remove-member", "server-2"], "Remove member server-2?", /server-2/],
  [["admin", "raft", "transfer-leader", "server-2"], "Transfer the lead to server-2?", /transfer/],
  [["admin", "restore", "/b/one"], "Restore /b/one into the cluster at http", /restore/],
  [["session", "end", "s-7"], "End session s-7?", /s-7/],
];

test.each(COMMANDS)("%j asks, and does nothing without a yes", async (words, question) => {
  for (const answer of ["n", "", "perhaps"]) {
    rig.err = "";
    typing(answer);
    expect(await rig.run(...words)).toBe(2);
    expect(rig.err).toContain(question);
    expect(rig.err).toContain("with --yes");
  }
  expect(rig.requests).toEqual([]);
});

test.each(COMMANDS)("%j proceeds after a yes", async (words, question, request) => {
  typing("y");
  await rig.run(...words);
  expect(rig.err).toContain(question);
  expect(rig.requests).toEqual([expect.stringMatching(request)]);
});

test.each(COMMANDS)("%j does not ask with --yes or without a terminal", async (words, question, request) => {
  typing("n");
  await rig.run(...words, "--yes");
  typing(null);
  await rig.run(...words);
  expect(rig.err).not.toContain(question);
  expect(rig.requests).toEqual([expect.stringMatching(request), expect.stringMatching(request)]);
});

test("a drain that is not urgent does not ask", async () => {
  typing("n");
  expect(await rig.run("node", "drain", "n1"), rig.err).toBe(0);
});

const service = (state: string, type: string) => ({
  id: "7",
  state,
  spec: { lifecycle: { type, ...(type === "reactive" ? { scale_policy: { min: 1 } } : {}) } },
});
const UPDATES: readonly (readonly string[])[] = [
  ["--image=new:2"],
  ["--entrypoint=./new"],
  ["--env=A=1"],
  ["--probe=none"],
];

test.each(UPDATES)("an update %s of a running service asks, because it replaces nodes", async (flag) => {
  rig.answers = {
    "GET /api/v1/allocations/7": [200, service("running", "unbounded")],
    "PATCH /api/v1/allocations/7": [200, { allocation: service("running", "unbounded") }],
  };
  const changes = () => rig.requests.filter((line) => line.startsWith("PATCH")).length;
  typing("n");
  expect(await rig.run("update", "7", flag)).toBe(2);
  expect(rig.err).toContain("Replace the nodes of service 7 one after the other?");
  expect(changes()).toBe(0);
  typing("y");
  expect(await rig.run("update", "7", flag), rig.err).toBe(0);
  rig.err = "";
  typing("n");
  expect(await rig.run("update", "7", flag, "--yes"), rig.err).toBe(0);
  typing(null);
  expect(await rig.run("update", "7", flag), rig.err).toBe(0);
  expect(rig.err).toBe("");
  expect(changes()).toBe(3);
});

test.each([
  ["--image=new:2", "pending", "unbounded"],
  ["--image=new:2", "running", "bounded"],
  ["--name=new", "running", "unbounded"],
  ["--max-nodes=4", "running", "reactive"],
])("an update %s of %s, %s work does not ask", async (flag, state, type) => {
  rig.answers = {
    "GET /api/v1/allocations/7": [200, service(state, type)],
    "PATCH /api/v1/allocations/7": [200, { allocation: service(state, type) }],
  };
  typing("n");
  expect(await rig.run("update", "7", flag), rig.err).toBe(0);
});

test("a certificate is revoked only after a yes", async () => {
  const dir = mkdtempSync(join(tmpdir(), "lattice-revoke-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));
  const pki = (...words: string[]) => rig.run("admin", "pki", ...words, "--dir", join(dir, "pki"));
  expect(await pki("init"), rig.err).toBe(0);
  expect(await pki("issue", "n1", "--kind", "agent"), rig.err).toBe(0);
  typing("n");
  expect(await pki("revoke", "n1")).toBe(2);
  expect(rig.err).toContain("Revoke n1? This cannot be undone.");
  expect(existsSync(join(dir, "pki", "ca.crl"))).toBe(false);
  typing("y");
  expect(await pki("revoke", "n1"), rig.err).toBe(0);
  expect(existsSync(join(dir, "pki", "ca.crl"))).toBe(true);
});
