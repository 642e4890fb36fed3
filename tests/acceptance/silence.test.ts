// A stopped agent, as on a hanging machine: its node is degraded, then down, and its work continues elsewhere. When it
// resumes, the node returns and its old attempt ends: no two attempts of one allocation stay alive.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive, kill, pause } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

/** Long enough that a busy machine does not silence the others, short enough to wait for. */
const config = `
node_agent:
  heartbeat_interval: 500ms
  heartbeat_timeout: 6s
  grace_period: 1h
`;
const cluster = useCluster({ nodes: 3, config });

test("a briefly silent node is degraded and keeps its job", async () => {
  const job = await startJob("late");
  const agent = cluster.agent(job.node).pid;
  await pause(agent);
  try {
    await shows(job.node, /Degraded/);
  } finally {
    kill(agent, "SIGCONT");
  }
  await shows(job.node, /Ready/);
  expect(isAlive(job.pid(1))).toBe(true);
  job.finish();
  expect(await cluster.ends(job.id)).toMatchObject({ state: "completed", attempt: 1 });
  expect(job.starts()).toHaveLength(1);
});

test("a silent node goes down, its job runs elsewhere, and its old attempt ends on return", async () => {
  const job = await startJob("silent");
  const agent = cluster.agent(job.node).pid;
  await pause(agent);
  try {
    await shows(job.node, /Degraded/);
    // Only now, so that a slow machine does not miss the earlier state.
    await cluster.cli(["admin", "config", "set", "node_agent.grace_period=6s"]);
    await shows(job.node, /Down \(silent\)/);
    expect((await cluster.cli(["notices"])).stdout).toContain(`node "${job.node}" is down`);
    const moved = await eventually({ what: "the job runs elsewhere" }, async () => {
      const record = await cluster.allocation(job.id);
      return record.state === "running" && record.attempt === 2 ? record : null;
    });
    expect(moved.requeues).toBe(1);
    expect(moved.nodes).not.toContain(job.node);
    await eventually({ what: "the second attempt says who it is" }, () => (job.pid(2) > 0 ? true : null));
  } finally {
    kill(agent, "SIGCONT");
  }
  await shows(job.node, /Ready/);
  expect((await cluster.cli(["notices"])).stdout).not.toContain(job.node);
  await eventually({ what: "the first attempt has ended" }, () => (isAlive(job.pid(1)) ? null : true));
  expect(isAlive(job.pid(2))).toBe(true);
  await eventually({ what: `${job.node} owns nothing` }, async () =>
    ((await cluster.node(job.node)).claims ?? []).length === 0 ? true : null,
  );
  expect(await cluster.allocation(job.id)).toMatchObject({ state: "running", attempt: 2, requeues: 1 });

  // It takes work again.
  const next = await cluster.submit({ entrypoint: "true", constraints: { required_nodes: [job.node] } });
  expect((await cluster.ends(next)).state).toBe("completed");
  job.finish();
  expect(await cluster.ends(job.id)).toMatchObject({ state: "completed", attempt: 2, exit_code: 0 });
  expect(job.starts().map((line) => line.split(" ")[0])).toEqual(["1", "2"]);
});

/** Waits until `lattice nodes` shows the node in this state. */
async function shows(node: string, state: RegExp): Promise<void> {
  await eventually({ what: `lattice nodes shows ${node} as ${state.source}` }, async () => {
    const { stdout } = await cluster.cli(["nodes"]);
    const line = stdout.split("\n").find((candidate) => candidate.startsWith(`${node} `)) ?? "";
    return state.test(line) ? true : null;
  });
}

/** A job that runs until a file appears, and records attempt and process id. */
async function startJob(name: string) {
  const file = cluster.file(`${name}.starts`);
  const done = cluster.file(`${name}.done`);
  writeFileSync(file, "");
  const entrypoint = `echo "$LATTICE_ATTEMPT $$" >> ${file}; while [ ! -e ${done} ]; do sleep 0.05; done`;
  const id = await cluster.submit({ name, entrypoint });
  const record = await cluster.reaches(id, ["running"]);
  const starts = (): readonly string[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  const pid = (attempt: number): number =>
    Number(
      starts()
        .find((line) => line.startsWith(`${attempt} `))
        ?.split(" ")[1] ?? 0,
    );
  await eventually({ what: "the job says who it is" }, () => (pid(1) > 0 ? true : null));
  return { id, node: record.nodes?.[0] ?? "", starts, pid, finish: () => writeFileSync(done, "") };
}
