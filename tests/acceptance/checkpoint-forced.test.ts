// Programs that do not take a requested checkpoint are stopped anyway: one that ignores every signal, and one that
// defers too long. While checkpoint storage is unavailable, only a sensitive claim preempts, and administrators get a
// notice until it is back.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const top = mkdtempSync(join(tmpdir(), "lattice-forced-"));
const output = join(top, "shared");
afterAll(() => rmSync(top, { recursive: true, force: true, maxRetries: 9 }));
const cluster = useCluster({
  nodes: 2,
  agentArgs: ["--output-dir", output],
  config:
    "checkpoint: { evaluation_interval: 1s }\nnode_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 20s }\n",
});

const metrics = async (): Promise<string> => (await fetch(`${cluster.apiUrl}/metrics`)).text();
const shows = (line: string) =>
  eventually({ what: `the metrics show ${line}` }, async () =>
    (await metrics()).split("\n").includes(line) ? true : null,
  );
const notices = async (): Promise<string> => (await cluster.cli(["notices"])).stdout;

interface Answer {
  readonly events: readonly { readonly kind: string; readonly text: string }[];
}
const kindsOf = async (id: string, types: string): Promise<readonly string[]> =>
  (await cluster.api<Answer>("GET", `/allocations/${id}/events?types=${types}`)).body.events.map(({ kind }) => kind);

test("programs that ignore or defer a checkpoint too long are stopped", async () => {
  const [diary, listening] = [cluster.file("diary"), cluster.file("listening")];
  const stubborn = [
    "trap : USR1",
    `trap 'echo term >> ${diary}' TERM`,
    `echo up >> ${diary}`,
    "while :; do sleep 0.1; done",
  ];
  const base = { nodes: 1, walltime: "2h", preemption_class: 1 };
  const deaf = await cluster.submit({
    ...base,
    script: `#!/bin/sh\n${stubborn.join("\n")}\n`,
    checkpoint: { strategy: "signal", timeout_seconds: 2 },
  });
  const slow = await cluster.submit({
    ...base,
    command: [process.execPath, join(import.meta.dirname, "programs", "defer-callback.mjs"), listening],
    checkpoint: { strategy: "grpc", timeout_seconds: 2, max_deferral_seconds: 3 },
  });
  for (const id of [deaf, slow]) await cluster.reaches(id, ["running"]);
  await eventually({ what: "both hear" }, async () =>
    [diary, listening].every((file) => existsSync(file)) ? true : null,
  );
  const began = Date.now();
  const urgent = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "10m", preemption_class: 8 });
  expect(await cluster.ends(urgent)).toMatchObject({ state: "completed" });
  // 2 s to answer, 3 s of granted deferral, half the time again, then 30 s between SIGTERM and SIGKILL.
  expect(Date.now() - began).toBeGreaterThanOrEqual(30_000);
  expect(readFileSync(diary, "utf8").split("\n")).toContain("term");
  await shows("lattice_preemption_failed_checkpoint_total 2");
  await shows('lattice_checkpoints_total{cause="preempted",result="failed"} 2');
  for (const id of [deaf, slow]) {
    expect(await cluster.allocation(id)).toMatchObject({ preemptions: 1, requeues: 0 });
    expect(await kindsOf(id, "preemption")).toEqual(["checkpoint_requested", "preempted"]);
    expect(await kindsOf(id, "failure")).toEqual(["checkpoint_failed"]);
  }
  expect(await kindsOf(urgent, "preemption")).toEqual(["others_stopped"]);
  await cluster.cli(["cancel", deaf, slow]);
  for (const id of [deaf, slow]) await cluster.ends(id);
});

test("unavailable checkpoint storage prevents preemption except by a sensitive claim, and raises a notice", async () => {
  const words = [
    "/bin/sh",
    join(import.meta.dirname, "programs", "count-signal.sh"),
    cluster.file("steps"),
    cluster.file("never"),
  ];
  const counting = { command: words, nodes: 1, walltime: "2h", preemption_class: 1, checkpoint: "signal" };
  const ids = [await cluster.submit(counting), await cluster.submit(counting)];
  for (const id of ids) await cluster.reaches(id, ["running"]);
  // A file in its place: nothing can be written below it, and the folder cannot be created again.
  renameSync(output, `${output}.away`);
  writeFileSync(output, "");
  await shows("lattice_checkpoint_storage_unavailable 1");
  await eventually({ what: "administrators have the notice" }, async () =>
    (await notices()).includes("checkpoints cannot be written on") ? true : null,
  );
  await eventually({ what: "both cannot write" }, async () => {
    const printed = await Promise.all(ids.map(async (id) => (await cluster.cli(["why", "--checkpoint", id])).stdout));
    return printed.every((text) => /ENOTDIR|not a directory/.test(text)) ? true : null;
  });
  // Checkpoint requests that cannot succeed are refused and change nothing.
  const [first = ""] = ids;
  const [home = ""] = (await cluster.allocation(first)).nodes ?? [];
  for (const words of [
    ["checkpoint", first],
    ["node", "drain", "--urgent", "--yes", home],
  ]) {
    const refused = await cluster.cli(words);
    expect(refused.code, words.join(" ")).not.toBe(0);
    expect(refused.stderr).toContain(`Checkpoints of allocation ${first} cannot be written`);
  }
  expect((await cluster.node(home)).state).toBe("ready");
  const urgent = await cluster.submit({ entrypoint: "true", nodes: 1, walltime: "10m", preemption_class: 8 });
  await sleep(3_000);
  expect((await cluster.allocation(urgent)).state).toBe("pending");
  for (const id of ids) expect(await cluster.allocation(id)).toMatchObject({ state: "running", attempt: 1 });
  await cluster.cli(["cancel", urgent]);

  // The folder is back but not writable for agents, so that the claim finds its own place there.
  const inTheWay = cluster.nodeIds.map((node) => join(`${output}.away`, `.lattice-probe-${node}`));
  for (const path of inTheWay) mkdirSync(path);
  rmSync(output);
  renameSync(`${output}.away`, output);
  await cluster.cli(["admin", "vcluster", "create", "clinic", "--scheduler=sensitive-reservation"]);
  const claim = await cluster.submit({ entrypoint: "true", vcluster: "clinic", nodes: 1, walltime: "10m" });
  expect(await cluster.ends(claim)).toMatchObject({ state: "completed" });
  const stopped = await Promise.all(ids.map(async (id) => (await cluster.allocation(id)) as { preemptions?: number }));
  expect(stopped.map(({ preemptions = 0 }) => preemptions).toSorted()).toEqual([0, 1]);

  for (const node of cluster.nodeIds)
    rmSync(join(output, `.lattice-probe-${node}`), { recursive: true, maxRetries: 9 });
  await shows("lattice_checkpoint_storage_unavailable 0");
  await eventually({ what: "the notice has ended" }, async () =>
    (await notices()).includes("checkpoints cannot be written on") ? null : true,
  );
  await cluster.cli(["cancel", ...ids]);
});
