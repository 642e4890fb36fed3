// Terminals in running allocations, through the real CLI in tmux and through pipes: several at once, sizes, signals,
// exit codes, and refusals that change nothing.
import { writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { useTmux } from "../harness/tmux.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });
const tmux = useTmux(cluster);

afterEach(async () => {
  for (const { id, state } of await cluster.allocations())
    if (!["completed", "failed", "cancelled"].includes(state)) await cluster.cli(["cancel", id]);
});

async function running(body: Record<string, unknown> = {}): Promise<string> {
  const id = await cluster.submit({ entrypoint: "sleep 600", ...body }, { headers: { "x-lattice-user": "root" } });
  await cluster.reaches(id, ["running"]);
  return id;
}

test("a shell in an allocation handles input, resize, Ctrl-C and its exit code", async () => {
  const id = await running({ env: { FROM_THE_JOB: "carried-over" } });
  const screen = tmux.open(`attach ${id}; echo "status=$?"`, { cols: 100, rows: 30 });
  await screen.shows(/[#$] $/m);

  screen.type("echo $FROM_THE_JOB $LATTICE_ALLOC_ID; stty size\n");
  await screen.shows(new RegExp(`carried-over ${id}`));
  await screen.shows(/^30 100$/m);

  screen.resize({ cols: 90, rows: 25 });
  await eventually({ what: "the new size arrives" }, async () => {
    screen.type("stty size\n");
    return /^25 90$/m.test(screen.text()) ? true : null;
  });

  screen.type("sleep 300; echo interrupted=$?\n");
  await screen.shows(/sleep 300/);
  screen.keys("C-c");
  await screen.shows(/\^C/);

  screen.type("exit 7\n");
  await screen.shows(/^status=7$/m);
  expect((await cluster.allocation(id)).state).toBe("running");
  await cluster.cli(["cancel", id]);
});

test("a task's terminal resizes before it receives later input, and follows the window", async () => {
  const id = await running();
  const script = cluster.file("sizes.sh");
  const waits = 'trap "stty size" WINCH; while :; do sleep 0.1; done';
  writeFileSync(script, `echo "id=$LATTICE_LAUNCH_ID;"; read line; stty size; ${waits}\n`);
  const screen = tmux.open(`launch --alloc=${id} -n 1 --pty sh ${script}`, { cols: 100, rows: 30 });
  const [, launchId] = await screen.shows(/id=([^;]+);/);
  const path = `/allocations/${id}/launches/${launchId}/input`;
  const headers = { "x-lattice-user": "root" };
  const far = await cluster.api("POST", path, { headers, body: { rows: 70_000, columns: 80 } });
  expect(far.status).toBe(400);
  const line = Buffer.from("\n").toString("base64");
  await cluster.api("POST", path, { headers, body: { rows: 33, columns: 99, data: line } });
  await screen.shows(/^33 99$/m);
  screen.resize({ cols: 90, rows: 25 });
  await screen.shows(/^25 90$/m);
  screen.keys("C-c");
  await cluster.cli(["cancel", id]);
});

test("several terminals run at once on named nodes, with commands and exit codes", async () => {
  const id = await running({ nodes: 2 });
  const nodes = (await cluster.allocation(id)).nodes ?? [];
  const runs = nodes.map((node) =>
    cluster.cli(["attach", id, `--node=${node}`, "--command=echo on $LATTICE_NODE; exit 3"]),
  );
  for (const [i, run] of (await Promise.all(runs)).entries()) {
    expect(run.stdout).toContain(`on ${nodes[i]}`);
    expect(run.code).toBe(3);
  }
  const dashed = await cluster.cli(["attach", id, "--", "printf", "%s|", "two words", "it's"]);
  expect(dashed).toMatchObject({ code: 0, stdout: "two words|it's|" });
  const missing = await cluster.cli(["attach", id, "--command=no-such-program"]);
  expect(missing.code).toBe(127);
  await cluster.cli(["cancel", id]);
});

test("a terminal on a shared node is limited to the share of its job", async () => {
  const flags = ["--scheduler", "interactive-fifo", "--share-nodes"];
  expect(await cluster.cli(["admin", "vcluster", "create", "small", ...flags])).toMatchObject({ code: 0 });
  const part = { vcluster: "small", constraints: { cpu_cores: 1, memory_gb: 1 } };
  const id = await running({ entrypoint: "cat /proc/self/cgroup; echo all; sleep 600", ...part });
  const job = await eventually({ what: "the job tells its groups" }, async () => {
    const { stdout } = await cluster.cli(["logs", id]);
    return stdout.includes("all\n") ? groupsIn(stdout) : null;
  });
  expect(job.length).toBeGreaterThan(0);
  const seen = await cluster.cli(["attach", id, "--command=cat /proc/self/cgroup"]);
  expect(groupsIn(seen.stdout)).toEqual(job);
  await cluster.cli(["cancel", id]);
});

/** The allocation's own groups; elsewhere the job is where its agent is. */
const groupsIn = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.includes("/lattice/"));

test("a terminal of a disconnected user hangs up and its processes end", async () => {
  const id = await running();
  const screen = tmux.open(`attach ${id}`, { cols: 80, rows: 24 });
  await screen.shows(/[#$] $/m);
  screen.type("echo pid=$$; exec sleep 1234\n");
  const pid = Number((await screen.shows(/pid=(\d+)/))[1]);
  expect(isAlive(pid)).toBe(true);
  screen.kill();
  await eventually({ what: "the shell is gone" }, () => (isAlive(pid) ? null : true));
  expect((await cluster.allocation(id)).state).toBe("running");
  await cluster.cli(["cancel", id]);
});

test("terminals show the end of their allocation, and their processes end with it", async () => {
  const id = await running();
  const screen = tmux.open(`attach ${id}; echo "status=$?"`, { cols: 100, rows: 24 });
  await screen.shows(/[#$] $/m);
  screen.type("echo pid=$$\n");
  const pid = Number((await screen.shows(/pid=(\d+)/))[1]);
  await cluster.cli(["cancel", id]);
  await screen.shows(/\[lattice\] The allocation is being stopped: cancelled/);
  await screen.shows(/^status=255$/m);
  await eventually({ what: "the shell is gone" }, () => (isAlive(pid) ? null : true));
  await cluster.ends(id);
});

test("attach refuses pending, finished, unknown and other users' allocations, and unknown nodes", async () => {
  const busy = await running({ nodes: 2 });
  const waiting = await cluster.submit({ entrypoint: "true" }, { headers: { "x-lattice-user": "root" } });
  const attach = (...words: string[]) => cluster.cli(["attach", ...words]);
  expect((await attach(waiting)).stderr).toContain(`Allocation ${waiting} is pending`);
  expect((await attach("999999")).stderr).toContain("There is no allocation");
  expect((await attach(busy, "--node=nowhere")).stderr).toContain("is not a node of allocation");
  const others = await cluster.submit({ entrypoint: "sleep 60" }, { headers: { "x-lattice-user": "mallory" } });
  await cluster.cli(["cancel", busy]);
  await cluster.reaches(others, ["running"]);
  const refused = await attach(others);
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("belongs to mallory");
  await cluster.ends(waiting);
  expect((await attach(waiting)).stderr).toMatch(/is completed, so there is nothing to attach to/);
  expect((await cluster.allocation(others)).state).toBe("running");
  await cluster.cli(["cancel", others]);
});

test("attach refuses terminals above the limit per user", async () => {
  const id = await running();
  const open = Array.from({ length: 5 }, () => tmux.open(`attach ${id}`, { cols: 80, rows: 24 }));
  for (const screen of open) await screen.shows(/[#$] $/m);
  const sixth = await cluster.cli(["attach", id]);
  expect(sixth.code).toBe(6);
  expect(sixth.stderr).toContain("maximum concurrent sessions reached (5/5)");
  open[0]?.kill();
  await eventually({ what: "there is room again" }, async () =>
    (await cluster.cli(["attach", id, "--command=true"])).code === 0 ? true : null,
  );
  for (const screen of open) screen.kill();
  await cluster.cli(["cancel", id]);
});

test("killing an agent ends its terminals but not the allocation", async () => {
  const id = await running();
  const node = (await cluster.allocation(id)).nodes?.[0] ?? "";
  const screen = tmux.open(`attach ${id}; echo "status=$?"`, { cols: 100, rows: 24 });
  await screen.shows(/[#$] $/m);
  await cluster.agent(node).kill();
  await screen.shows(/connection to node|was lost/i);
  cluster.startAgent(node);
  await cluster.nodesReady();
  await eventually({ what: "a new terminal opens" }, async () =>
    (await cluster.cli(["attach", id, "--command=echo again"])).stdout.includes("again") ? true : null,
  );
  expect((await cluster.allocation(id)).attempt).toBe(1);
  await cluster.cli(["cancel", id]);
});
