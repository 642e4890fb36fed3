// The agent reads command lines of its own user's processes only.

import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { ownCommandLine } from "../../src/host/own-process.ts";

test("an own process has a command line, an absent one an empty one", async () => {
  expect((await ownCommandLine(process.pid))?.length).toBeGreaterThan(0);
  expect(await ownCommandLine(4_194_303)).toEqual([]);
});

test.runIf(process.getuid?.() === 0)("a process of another user has none", async () => {
  const script = 'import os, time; os.setresuid(54351, 0, 0); print("up", flush=True); time.sleep(60)';
  const child = spawn("/usr/bin/python3", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(await ownCommandLine(child.pid ?? 0)).toBeNull();
  } finally {
    child.kill("SIGKILL");
  }
});
