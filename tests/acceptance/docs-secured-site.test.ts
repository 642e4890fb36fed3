// Runs the page on a secured site in order: every `sh run` block in its own shell, consecutive `background` blocks
// together and until the end. Addresses and folders are replaced by those of the test.

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { runBlock, startShell } from "../harness/pages.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { root } from "../harness/program.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-test-site-"));
const network = `127.${1 + (process.pid % 250)}.${1 + ((process.pid >> 8) % 250)}`;
const PLACE = {
  cwd: dir,
  env: { HOME: dir, LATTICE_SPIRE_SOCKET: join(dir, "no.sock"), LATTICE_AGENT_USER_MAPPING: "none" },
};

/** Standard error of the programs. */
const logs: { text: string }[] = [];

afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

/** Connections within a machine come from 127.0.0.1, and its servers need different ports of etcd. */
const page = readFileSync(join(root, "docs/operating/secured-site.md"), "utf8")
  .replaceAll("127.0.0.1:2379", `${network}.$n:2379`)
  .replaceAll("10.0.0.0/16", "127.0.0.0/8")
  .replaceAll("10.0.0.", `${network}.`)
  .replaceAll("/etc/lattice", join(dir, "etc"))
  .replaceAll("/var/", `${join(dir, "var")}/`);
const steps = [...page.matchAll(/^```sh run( background)?\n([\s\S]*?)^```$/gm)].map(([, background, text = ""]) => ({
  background: background !== undefined,
  text,
}));

function start(text: string): () => Promise<unknown> {
  const child = startShell(`exec env ${text.trim()}`, PLACE);
  let output = "";
  const log = { text: "" };
  logs.push(log);
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    log.text += chunk.toString();
  });
  return () =>
    eventually({ what: `ready: ${text}` }, () => {
      if (child.exitCode !== null) throw new Error(`${text} ended with ${child.exitCode}\n${log.text.slice(-4_000)}`);
      // Later steps show whether an agent is.
      return /^\{.*"ready":true/m.test(output) || text.includes("lattice-agent") ? true : null;
    });
}

test("secured-site.md does what it says", async () => {
  mkdirSync(join(dir, "etc"));
  expect(steps.filter(({ background }) => background)).toHaveLength(4);
  let starting: (() => Promise<unknown>)[] = [];
  for (const { background, text } of steps) {
    if (background) {
      starting.push(start(text));
      continue;
    }
    for (const ready of starting) await ready();
    starting = [];
    await runBlock(text, PLACE);
  }
  // Standard error has one JSON object per line, each key once.
  const lines = logs.flatMap(({ text }) => text.split("\n").slice(0, -1));
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.filter((line) => !isLogLine(line))).toEqual([]);
});

function isLogLine(line: string): boolean {
  try {
    // A key that is there twice is read once.
    return JSON.stringify(JSON.parse(line)) === line;
  } catch {
    return false;
  }
}
