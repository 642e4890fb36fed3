// The end of the walltime: programs that ignore SIGTERM are killed after the grace, and a checkpoint that is complete
// by then can be resumed. Both tests wait for the same 30 seconds.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive, pidsIn } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const base = mkdtempSync(join(tmpdir(), "lattice-edges-"));
const output = join(base, "output");
mkdirSync(output);
afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 9 }));
const cluster = useCluster({
  nodes: 3,
  agentArgs: ["--output-dir", output],
  config: [
    "node_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 30s }",
    "checkpoint: { evaluation_interval: 1s }",
    "",
  ].join("\n"),
});
const GRACE_MS = 30_000;
const program = join(import.meta.dirname, "programs", "count-signal.sh");

const metric = async (line: RegExp): Promise<boolean> =>
  line.test(await (await fetch(`${cluster.apiUrl}/metrics`)).text());
const stepsIn = (diary: string): number[] =>
  existsSync(diary) ? readFileSync(diary, "utf8").trim().split("\n").map(Number) : [];

interface List {
  readonly allocations?: readonly { readonly id: string; readonly spec: { readonly name?: string } }[];
}

/** Takes time to save, and ignores SIGTERM when `deaf`. */
const slowly = (diary: string, finish: string, deaf: boolean) => ({
  script: ["#!/bin/sh", ...(deaf ? ["trap '' TERM"] : []), `set -- ${diary} ${finish}`, `. ${program}`, ""].join("\n"),
  // Asked at once, it still saves at the end of its walltime, and finishes well within the grace.
  env: { SLOW: "12" },
  walltime: "10s",
  checkpoint: "manual",
});

test.concurrent("a checkpoint complete within the grace suspends at the walltime; an incomplete one fails", async () => {
  const [diary, finish] = [cluster.file("deaf"), cluster.file("finish")];
  const file = cluster.file("deaf.sh");
  const { script, env, walltime, checkpoint } = slowly(diary, finish, true);
  writeFileSync(file, script);
  const flags = ["--name=deaf", `--env=SLOW=${env.SLOW}`, `--walltime=${walltime}`, `--checkpoint=${checkpoint}`];
  const waiting = cluster.cli(["submit", "--wait", ...flags, file]);
  const deaf = await eventually({ what: "it is submitted" }, async () => {
    const { allocations = [] } = (await cluster.api<List>("GET", "/allocations")).body;
    return allocations.find(({ spec }) => spec.name === "deaf")?.id ?? null;
  });
  const mortal = await cluster.submit(slowly(cluster.file("mortal"), finish, false));
  await Promise.all(
    [deaf, mortal].map(async (id) => {
      await cluster.reaches(id, ["running"]);
      expect((await cluster.api("POST", `/allocations/${id}/checkpoint`, { body: {} })).status).toBe(200);
    }),
  );
  expect(await cluster.reaches(mortal, ["failed"])).toMatchObject({ reason: "walltime_exceeded" });
  await cluster.reaches(deaf, ["suspended"]);
  // It does not resume on its own, so --wait returns.
  const waited = await waiting;
  expect(waited.stderr).toContain(`lattice resume ${deaf}`);
  expect(waited.code).toBe(75);
  expect(await metric(/lattice_checkpoint_walltime_conflict_total\{result="[a-z]+"\} 1/)).toBe(true);
  const counted = stepsIn(diary).length;
  execFileSync("touch", [finish]);
  expect((await cluster.cli(["resume", deaf])).code).toBe(0);
  expect(await cluster.ends(deaf)).toMatchObject({ state: "completed", attempt: 2 });
  expect(stepsIn(diary).length).toBeGreaterThanOrEqual(counted);
});

test.concurrent("SIGKILL ends a job that ignores SIGTERM at its walltime, after the grace", async () => {
  const file = cluster.file("stubborn");
  const id = await cluster.submit({
    walltime: "00:00:05",
    entrypoint: `echo $$ >> ${file}; trap 'echo asked >> ${file}' TERM; while :; do sleep 1; done`,
  });
  const began = Date.now();
  const record = await cluster.ends(id);
  expect(record).toMatchObject({ state: "failed", reason: "walltime_exceeded" });
  expect(Date.now() - began).toBeGreaterThan(GRACE_MS - 5_000);
  expect(readFileSync(file, "utf8")).toContain("asked");
  await eventually({ what: "it is gone" }, () => (isAlive(pidsIn(file)[0] ?? -1) ? null : true));
  await cluster.released(id);
});
