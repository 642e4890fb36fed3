// A violation caused by one kind of fault is shrunk to a shorter run with that kind alone, and the printed command
// replays it: the same rule, at the same time, with the same trace.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../harness/program.ts";
import { type RunOptions, simulate } from "./run.ts";
import { replayCommand, shrink } from "./shrink.ts";

const TIMEOUT_MS = 600_000;
const run = promisify(execFile);

test("shrink shortens a seeded violation, and its printed command replays it", {
  timeout: TIMEOUT_MS,
}, async () => {
  const failing: RunOptions = { seed: 3, minutes: 3, violate: { kind: "agent_crash", times: 2 } };
  const { violation } = await simulate(failing);
  if (violation === null) throw new Error("nothing was violated");
  expect(violation.rule).toBe("made_up");

  const tried: string[] = [];
  const shorter = await shrink(failing, violation, (text) => tried.push(text));
  expect(shorter.minutes).toBeLessThan(failing.minutes);
  expect(shorter.kinds).toEqual(["agent_crash"]);
  expect(tried.length).toBeLessThan(60);

  const again = await simulate(shorter);
  expect(again.violation?.rule).toBe("made_up");
  expect(again.violation?.atMs).toBeLessThanOrEqual(shorter.minutes * 60_000);

  const [, words = ""] = replayCommand(shorter).split("npm run simulate -- ");
  const printed = await run(process.execPath, [join(root, "tools", "simulate.mjs"), ...words.split(" ")]).catch(
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  expect("code" in printed ? printed.code : 0).toBe(1);
  expect(printed.stdout).toContain(`VIOLATED made_up after ${(again.violation?.atMs ?? 0) / 1000} s`);
  expect(printed.stdout).toContain(`trace ${again.traceHash}`);
  expect(printed.stdout).toContain(replayCommand(shorter));
});
