// Counting programs are preempted repeatedly, each with another checkpoint method, and none loses or repeats a step.
// Also the users' view: requests, failures, an agent killed during a write, and an urgent drain.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const ROUNDS = 10;
const programs = join(import.meta.dirname, "programs");
const output = mkdtempSync(join(tmpdir(), "lattice-checkpoints-"));
const cluster = useCluster({ nodes: 3, agentArgs: ["--output-dir", output] });
const counter = join(output, "count-shared");

beforeAll(() => execFileSync("gcc", ["-O1", "-o", counter, join(programs, "count-shared.c")]));
afterAll(() => rmSync(output, { recursive: true, force: true, maxRetries: 9 }));

const stepsIn = (diary: string): number[] =>
  existsSync(diary) ? readFileSync(diary, "utf8").trim().split("\n").map(Number) : [];

const until = (what: string, look: () => boolean | Promise<boolean>): Promise<true> =>
  eventually({ what }, async () => ((await look()) ? true : null));

const isWhole = (steps: readonly number[]): boolean => steps.every((step, i) => step === i + 1);

interface Shown {
  readonly state: string;
  readonly attempt?: number;
  readonly preemptions?: number;
  readonly submitted_at?: string;
  readonly checkpoint?: {
    readonly last?: { readonly number: number };
    readonly failure?: { readonly message: string };
  };
}
const shown = async (id: string): Promise<Shown> => (await cluster.allocation(id)) as Shown;

const counting = (mode: string, words: readonly string[], more: object = {}) => ({
  command: words,
  nodes: 1,
  walltime: "2h",
  preemption_class: 1,
  checkpoint: mode,
  ...more,
});

test(`programs that are stopped for others ${ROUNDS} times lose no step, whichever way they are asked`, async () => {
  const finish = cluster.file("finish");
  const kinds = {
    signal: ["/bin/sh", join(programs, "count-signal.sh")],
    shmem: [counter],
    grpc: [process.execPath, join(programs, "count-callback.mjs")],
  };
  const victims = await Promise.all(
    Object.entries(kinds).map(async ([mode, words]) => {
      const diary = cluster.file(`steps-${mode}`);
      return { diary, id: await cluster.submit(counting(mode, [...words, diary, finish])) };
    }),
  );
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = victims.map(({ diary }) => stepsIn(diary).length);
    await until("all count", () => victims.every(({ diary }, i) => stepsIn(diary).length > (before[i] ?? 0)));
    const urgent = await cluster.submit({ entrypoint: "true", nodes: 3, walltime: "10m", preemption_class: 8 });
    await cluster.ends(urgent);
  }
  for (const { id } of victims) await cluster.reaches(id, ["running"]);
  execFileSync("touch", [finish]);
  for (const { id, diary } of victims) {
    expect(await cluster.ends(id)).toMatchObject({
      state: "completed",
      requeues: 0,
      preemptions: ROUNDS,
      attempt: ROUNDS + 1,
      checkpoint: { completed: ROUNDS, last: { number: ROUNDS } },
    });
    expect(isWhole(stepsIn(diary)), `steps in ${diary}`).toBe(true);
  }
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toContain(`lattice_preemption_checkpoint_duration_seconds_count ${3 * ROUNDS}`);
  expect(metrics).toContain("lattice_preemption_failed_checkpoint_total 0");
});

test("checkpoints by user, after an agent kill, by a failing program and by an urgent drain are distinguished", async () => {
  const [finish, diary] = [cluster.file("end"), cluster.file("steps")];
  const words = ["/bin/sh", join(programs, "count-signal.sh"), diary, finish];
  const id = await cluster.submit(counting("signal", words, { env: { SLOW: "0.5" } }));
  const deaf = await cluster.submit(counting("manual", ["/bin/sleep", "600"]));
  const plain = await cluster.submit({ command: ["/bin/sleep", "600"], walltime: "1h" });
  for (const one of [id, deaf, plain]) await cluster.reaches(one, ["running"]);
  await until("it counts", () => stepsIn(diary).length > 0);

  const failing = cluster.cli(["checkpoint", "--wait", deaf]);
  expect((await cluster.cli(["checkpoint", plain])).stderr).toContain("submitted without --checkpoint");
  expect((await cluster.cli(["why", "--checkpoint", deaf])).stdout).toMatch(
    /being taken|not evaluated|catches SIGUSR1/,
  );

  // The agent dies during the write: the next one waits for the same checkpoint.
  const node = (await cluster.allocation(id)).nodes?.[0] ?? "";
  expect((await cluster.cli(["checkpoint", id])).stdout).toContain("Requested checkpoint 1 ");
  await cluster.agent(node).kill();
  cluster.startAgent(node);
  await until("the checkpoint is complete", async () => (await shown(id)).checkpoint?.last?.number === 1);
  expect((await shown(id)).state).toBe("running");

  const { code, stderr } = await failing;
  expect(code).not.toBe(0);
  expect(stderr).toContain("no process of it catches SIGUSR1");
  expect(await shown(deaf)).toMatchObject({ state: "running", checkpoint: { failure: { number: 1 } } });

  expect((await cluster.cli(["node", "drain", "--urgent", node])).stdout).toContain("raining");
  await until("it waits for another node", async () => (await shown(id)).state === "pending");
  await cluster.cli(["node", "undrain", node]);
  await cluster.reaches(id, ["running"]);
  execFileSync("touch", [finish]);
  expect(await cluster.ends(id)).toMatchObject({ state: "completed", attempt: 2, checkpoint: { completed: 2 } });
  expect(isWhole(stepsIn(diary))).toBe(true);
  await cluster.cli(["cancel", deaf, plain]);
  const bad = await cluster.cli(["submit", "--checkpoint=smoke", "--", "true"]);
  expect(bad.stderr).toContain("is not a strategy");
});

test("only the newest complete checkpoints are kept, and none after the retention", async () => {
  const set = (setting: string) => cluster.cli(["admin", "config", "set", `checkpoint.${setting}`]);
  await set("keep=2");
  await set("retention=2s");
  const [finish, diary] = [cluster.file("over"), cluster.file("diary")];
  const id = await cluster.submit(counting("signal", ["/bin/sh", join(programs, "count-signal.sh"), diary, finish]));
  await cluster.reaches(id, ["running"]);
  await until("it counts", () => stepsIn(diary).length > 0);
  const folder = join(output, "default", "default", id, "checkpoints");
  for (let n = 1; n <= 4; n += 1) expect((await cluster.cli(["checkpoint", "--wait", id])).code).toBe(0);
  await until("the oldest is gone", () => readdirSync(folder).sort().join() === "2,3,4");
  execFileSync("touch", [finish]);
  await cluster.ends(id);
  await until("nothing is left", () => !existsSync(folder));

  // One that is cancelled while it has no nodes, because another one uses all of them.
  const words = ["/bin/sh", join(programs, "count-signal.sh"), cluster.file("diary-2"), cluster.file("never")];
  const waiting = await cluster.submit(counting("signal", words));
  await cluster.reaches(waiting, ["running"]);
  await until("it counts", () => stepsIn(cluster.file("diary-2")).length > 0);
  const left = join(output, "default", "default", waiting, "checkpoints");
  const urgent = await cluster.submit({ entrypoint: "sleep 600", nodes: 3, walltime: "1h", preemption_class: 8 });
  await cluster.reaches(urgent, ["running"]);
  expect((await shown(waiting)).state).toBe("pending");
  expect(readdirSync(left)).toEqual(["1"]);
  await cluster.cli(["cancel", waiting]);
  await until("nothing is left of that one either", () => !existsSync(left));
  await cluster.cli(["cancel", urgent]);
  expect((await set("keep=99")).code).not.toBe(0);
  for (const name of ["keep", "retention"]) await cluster.cli(["admin", "config", "reset", `checkpoint.${name}`]);
});
