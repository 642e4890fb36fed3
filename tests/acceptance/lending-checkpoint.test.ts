// Borrowing end to end: a job with checkpoints borrows an idle node, saves its work when the owner reclaims it, and
// resumes without losing or repeating a step.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const [OWNER, BORROWER] = ["ml-training", "hpc-batch"];
const ROUNDS = 3;
const cluster = useCluster({ nodes: 2, homes: { "node-1": BORROWER, "node-2": OWNER }, output: true });
const program = join(import.meta.dirname, "programs", "count-signal.sh");

const stepsIn = (diary: string): number[] =>
  existsSync(diary) ? readFileSync(diary, "utf8").trim().split("\n").map(Number) : [];
const until = (what: string, look: () => Promise<boolean>): Promise<true> =>
  eventually({ what }, async () => ((await look()) ? true : null));

interface Shown {
  readonly home_vcluster?: string;
  readonly current_vcluster?: string;
}
interface Suspended {
  readonly state: string;
  readonly message?: string;
  readonly preemptions?: number;
  readonly submitted_at?: string;
  readonly checkpoint?: { readonly taken?: number };
}

test(`a borrower saves its work, returns the node and resumes, ${ROUNDS} times`, async () => {
  const terms = ["--lends", "--lend-return-grace=20", "--lend-max-time=3h"];
  await cluster.cli(["admin", "vcluster", "update", OWNER, ...terms]);
  // The borrower's own node is occupied permanently.
  const neighbour = await cluster.submit({
    command: ["/bin/sleep", "600"],
    vcluster: BORROWER,
    walltime: "1h",
    preemption_class: 6,
  });
  expect((await cluster.reaches(neighbour, ["running"])).nodes).toEqual(["node-1"]);

  const [diary, finish] = [cluster.file("steps"), cluster.file("finish")];
  const borrower = await cluster.submit({
    command: ["/bin/sh", program, diary, finish],
    vcluster: BORROWER,
    walltime: "2h",
    preemption_class: 3,
    checkpoint: "signal",
  });
  const { submitted_at: submitted } = (await cluster.allocation(borrower)) as Suspended;
  for (let round = 1; round <= ROUNDS; round += 1) {
    expect((await cluster.reaches(borrower, ["running"])).nodes).toEqual(["node-2"]);
    expect((await cluster.node("node-2")) as Shown).toMatchObject({ home_vcluster: OWNER, current_vcluster: BORROWER });
    const before = stepsIn(diary).length;
    await until("it counts", async () => stepsIn(diary).length > before);

    const hold = cluster.file(`hold-${round}`);
    const owner = await cluster.submit({
      entrypoint: `while [ ! -e ${hold} ]; do sleep 0.05; done`,
      vcluster: OWNER,
      walltime: "1h",
      preemption_class: 5,
    });
    expect((await cluster.reaches(owner, ["running"])).nodes).toEqual(["node-2"]);
    expect((await cluster.node("node-2")) as Shown).toMatchObject({ current_vcluster: OWNER });
    const waiting = (await cluster.allocation(borrower)) as Suspended;
    expect(waiting).toMatchObject({ state: "pending", preemptions: round, checkpoint: { completed: round } });
    expect(waiting.submitted_at).toBe(submitted);
    expect(waiting.message).toContain(`stopped for allocation ${owner} of class 5 (reclaim)`);
    execFileSync("touch", [hold]);
    await cluster.ends(owner);
  }
  await cluster.reaches(borrower, ["running"]);
  execFileSync("touch", [finish]);
  expect(await cluster.ends(borrower)).toMatchObject({ state: "completed", requeues: 0, preemptions: ROUNDS });
  expect(
    stepsIn(diary).every((step, i) => step === i + 1),
    "no step is lost or counted twice",
  ).toBe(true);
  await until(
    "the node is its owner's again",
    async () => ((await cluster.node("node-2")) as Shown).current_vcluster !== BORROWER,
  );
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toContain(`lattice_scheduling_preemptions_total{vcluster="${BORROWER}",reason="reclaim"} ${ROUNDS}`);
  expect(metrics).toContain(`lattice_preemption_checkpoint_duration_seconds_count ${ROUNDS}`);
  expect((await cluster.cli(["status", borrower, "--verbose"])).stdout).toContain("reclaim");
});
