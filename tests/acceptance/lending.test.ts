// A vCluster lends an idle node and reclaims it. The borrower gets the owner's grace and waits again.
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { sleep } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const OWNER = "ml-training";
const cluster = useCluster({ nodes: 2, homes: { "node-2": OWNER } });

interface Shown {
  readonly home_vcluster?: string;
  readonly current_vcluster?: string;
}
interface Answer {
  readonly message?: string;
}

test("idle nodes are lent on the owner's terms and reclaimed on demand", async () => {
  const go = cluster.file("go");
  const guest = await cluster.submit({
    entrypoint: `while [ ! -e ${go} ]; do sleep 0.1; done`,
    nodes: 2,
    walltime: "2h",
    preemption_class: 3,
  });
  await sleep(1_000);
  expect((await cluster.allocation(guest)).state, "nothing is lent unasked").toBe("pending");

  const terms = ["--lends", "--lend-return-grace=2", "--lend-max-time=3h"];
  expect((await cluster.cli(["admin", "vcluster", "update", OWNER, ...terms])).stdout).toContain("reclaims within 2 s");
  await cluster.reaches(guest, ["running"]);
  const lent = (await cluster.node("node-2")) as Shown;
  expect(lent).toMatchObject({ home_vcluster: OWNER, current_vcluster: "hpc-batch" });
  expect((await cluster.allocation(guest)) as object).toMatchObject({ scores: { borrowed: expect.any(Number) } });

  const done = cluster.file("done");
  const owner = await cluster.submit({
    entrypoint: `touch ${done}; sleep 2`,
    vcluster: OWNER,
    nodes: 1,
    walltime: "1h",
  });
  await cluster.ends(owner);
  expect(existsSync(done)).toBe(true);
  const back = (await cluster.allocation(guest)) as Awaited<ReturnType<typeof cluster.allocation>> & Answer;
  expect(back.reason === "preempted" || back.attempt === 2).toBe(true);
  if (back.state === "pending") expect(back.message).toContain(`stopped for allocation ${owner} of class 5 (reclaim)`);
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toContain('lattice_scheduling_preemptions_total{vcluster="hpc-batch",reason="reclaim"} 1');

  await cluster.reaches(guest, ["running"]);
  const above = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "10m", preemption_class: 4 });
  const beyond = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "10m", preemption_class: 5 });
  await cluster.submit({ entrypoint: `touch ${go}`, vcluster: OWNER, preemption_class: 9, walltime: "10m" });
  await cluster.ends(guest);
  await cluster.ends(above);
  await sleep(1_000);
  expect((await cluster.allocation(beyond)).state, "a class above the owner's limit does not borrow").toBe("pending");
  await cluster.cli(["cancel", beyond]);
});
