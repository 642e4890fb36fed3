// Records the RPCs that a test file has called successfully, counted by the answering server. The page of all RPCs
// names a file for each; a named file must have made the call by its end.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect } from "vitest";
import type { Metrics } from "../../src/base/observe/index.ts";

const PAGE = fileURLToPath(new URL("../../../../docs/reference/rpcs.md", import.meta.url));
const made = new Map<string, Set<string>>();

/** Wraps metrics and records successful calls of the running file. */
export function counting(metrics: Metrics): Metrics {
  const file = basename(expect.getState().testPath ?? "");
  const calls = made.get(file) ?? new Set<string>();
  made.set(file, calls);
  return {
    ...metrics,
    apiRequest(rpc, code, seconds) {
      if (code === "ok") calls.add(rpc);
      metrics.apiRequest(rpc, code, seconds);
    },
  };
}

/** Call once at the top of a file, with its URL. */
export function provesCalls(url: string): void {
  const file = basename(fileURLToPath(url));
  let whole: Task = { mode: "skip" };
  made.delete(file);
  beforeEach(({ task }) => {
    whole = task.file;
  });
  afterAll(() => {
    // A run of a single test, or of UPDATE=1, makes fewer calls.
    if (process.env.UPDATE === "1" || !ranWhole(whole)) return;
    const calls = made.get(file) ?? new Set();
    const missing = claimedFor(file).filter((rpc) => !calls.has(rpc));
    expect(missing, `docs/reference/rpcs.md says that ${file} calls these, and none was answered well`).toEqual([]);
  });
}

function claimedFor(file: string): readonly string[] {
  const claimed: string[] = [];
  let service = "";
  for (const line of readFileSync(PAGE, "utf8").split("\n")) {
    service = /^## (\w+Service)$/.exec(line)?.[1] ?? service;
    const method = /^\| (\w+)(?: \([a-z ]+\))? \| /.exec(line)?.[1];
    if (method !== undefined && line.includes(`[${file}]`) && service !== "") claimed.push(`${service}.${method}`);
    if (line.startsWith("## Other")) break;
  }
  return claimed;
}

interface Task {
  readonly mode: string;
  readonly tasks?: readonly Task[];
}

const ranWhole = (task: Task): boolean => task.mode !== "skip" && (task.tasks ?? []).every(ranWhole);
