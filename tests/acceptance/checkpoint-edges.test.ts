// Checkpoints where something else happens at the same time: a walltime that is over, storage that goes away, a person who sits at a
// terminal in the allocation.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { useTmux } from "../harness/tmux.ts";
import { useCluster } from "../harness/use-cluster.ts";

const base = mkdtempSync(join(tmpdir(), "lattice-edges-"));
const output = join(base, "output");
mkdirSync(output);
afterAll(() => rmSync(base, { recursive: true, force: true }));
const cluster = useCluster({
  nodes: 2,
  agentArgs: ["--output-dir", output],
  config: [
    "node_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 30s }",
    "checkpoint: { evaluation_interval: 1s }",
    "",
  ].join("\n"),
});
const tmux = useTmux(cluster);
const program = join(import.meta.dirname, "programs", "count-signal.sh");

const until = (what: string, look: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<true> =>
  eventually({ what, withinMs }, async () => ((await look()) ? true : null));
const metric = async (line: RegExp): Promise<boolean> =>
  line.test(await (await fetch(`${cluster.apiUrl}/metrics`)).text());
const stepsIn = (diary: string): number[] =>
  existsSync(diary) ? readFileSync(diary, "utf8").trim().split("\n").map(Number) : [];

/** Takes its time to save, and hears nothing of SIGTERM when `deaf`. */
const slowly = (diary: string, finish: string, deaf: boolean) => ({
  script: ["#!/bin/sh", ...(deaf ? ["trap '' TERM"] : []), `set -- ${diary} ${finish}`, `. ${program}`, ""].join("\n"),
  env: { SLOW: "4" },
  walltime: "4s",
  checkpoint: "manual",
});

test("a walltime that is over during a checkpoint: complete within the grace it is suspended, else it has failed", async () => {
  const [diary, finish] = [cluster.file("deaf"), cluster.file("finish")];
  const deaf = await cluster.submit(slowly(diary, finish, true));
  const mortal = await cluster.submit(slowly(cluster.file("mortal"), finish, false));
  for (const id of [deaf, mortal]) {
    await cluster.reaches(id, ["running"]);
    expect((await cluster.cli(["checkpoint", id])).code).toBe(0);
  }
  expect(await cluster.reaches(mortal, ["failed"])).toMatchObject({ reason: "walltime_exceeded" });
  await cluster.reaches(deaf, ["suspended"]);
  expect(await metric(/lattice_checkpoint_walltime_conflict_total\{result="[a-z]+"\} 1/)).toBe(true);
  const counted = stepsIn(diary).length;
  execFileSync("touch", [finish]);
  expect((await cluster.cli(["resume", deaf])).code).toBe(0);
  expect(await cluster.ends(deaf)).toMatchObject({ state: "completed", attempt: 2 });
  expect(stepsIn(diary).length).toBeGreaterThanOrEqual(counted);
});

test("people at a terminal are told what becomes of the allocation", async () => {
  const [diary, finish] = [cluster.file("told"), cluster.file("told-finish")];
  const headers = { "x-lattice-user": "root" };
  const body = {
    command: ["/bin/sh", program, diary, finish],
    walltime: "1h",
    preemption_class: 1,
    checkpoint: "signal",
    nodes: 1,
  };
  const id = await cluster.submit({ ...body, env: { SLOW: "1" } }, { headers });
  const other = await cluster.submit({ ...body, command: ["/bin/sh", program, cluster.file("other"), finish] });
  for (const each of [id, other]) await cluster.reaches(each, ["running"]);
  const screen = tmux.open(`attach ${id}; echo "status=$?"`, { cols: 120, rows: 30 });
  await screen.shows(/[#$] $/m);
  await until("it counts", () => stepsIn(diary).length > 0);
  const urgent = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "10m", preemption_class: 8 });
  await screen.shows(/\[lattice\] The allocation is about to be suspended/);
  await screen.shows(/\[lattice\] Checkpoint 1 is complete/);
  await screen.shows(/^status=255$/m);
  expect(await cluster.ends(urgent)).toMatchObject({ state: "completed" });
  execFileSync("touch", [finish]);
  for (const each of [id, other]) expect(await cluster.ends(each)).toMatchObject({ state: "completed" });
});

test("while the storage is away nobody is stopped for others; when it is back they are", async () => {
  const [diary, finish] = [cluster.file("kept"), cluster.file("kept-finish")];
  const low = await cluster.submit({
    command: ["/bin/sh", program, diary, finish],
    walltime: "1h",
    nodes: 2,
    preemption_class: 1,
    checkpoint: "signal",
  });
  await cluster.reaches(low, ["running"]);
  renameSync(output, `${output}-away`);
  writeFileSync(output, "no folder");
  await until("it is noticed", () => metric(/lattice_checkpoint_storage_unavailable 1/));
  expect((await cluster.cli(["why", "--checkpoint", low])).stdout).toMatch(/ENOTDIR|not a directory/);
  const urgent = await cluster.submit({ entrypoint: "true", walltime: "10m", preemption_class: 8 });
  await sleep(3_000);
  expect((await cluster.allocation(low)).state).toBe("running");
  expect((await cluster.allocation(urgent)).state).toBe("pending");

  rmSync(output);
  renameSync(`${output}-away`, output);
  expect(await cluster.ends(urgent)).toMatchObject({ state: "completed" });
  await cluster.reaches(low, ["running"]);
  execFileSync("touch", [finish]);
  expect(await cluster.ends(low)).toMatchObject({ state: "completed", preemptions: 1 });
  expect(stepsIn(diary).every((step, i) => step === i + 1)).toBe(true);
  expect(await metric(/lattice_checkpoint_storage_unavailable 0/)).toBe(true);
});
