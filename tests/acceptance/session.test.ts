// `lattice session` as a user runs it: pending with a reason, a shell on the node, released nodes at its end; and the
// endpoints behind it.
import { afterEach, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Json } from "../harness/rest.ts";
import { useTmux } from "../harness/tmux.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1 });
const tmux = useTmux(cluster);
const ROOT = { headers: { "x-lattice-user": "root" } };

afterEach(async () => {
  for (const { id, state } of await cluster.allocations())
    if (!["completed", "failed", "cancelled"].includes(state)) await cluster.cli(["cancel", id]);
});

test("a session shows why it waits, opens a shell, and releases its node at exit", async () => {
  const blocker = await cluster.submit({ entrypoint: "sleep 600" }, ROOT);
  await cluster.reaches(blocker, ["running"]);
  const screen = tmux.open('session --walltime=10m; echo "status=$?"', { cols: 120, rows: 24 });
  await screen.shows(/is pending: Needs 1 node/);

  await cluster.cli(["cancel", blocker]);
  await screen.shows(/session \d+\.1 on node-1/);
  await screen.shows(/[#$] $/m);
  screen.type("echo in-$LATTICE_ALLOC_ID-$LATTICE_VCLUSTER\n");
  const id = (await screen.shows(/in-(\d+)-interactive/))[1] ?? "";
  expect((await cluster.cli(["session", "list"])).stdout).toContain(`${id}.1`);

  screen.type("exit 3\n");
  await screen.shows(/^status=3$/m);
  expect(await cluster.ends(id)).toMatchObject({ state: "completed", exit_code: 3 });
  await eventually({ what: "the node is free" }, async () =>
    ((await cluster.node("node-1")).claims ?? []).length === 0 ? true : null,
  );
});

test("Ctrl-C cancels a pending session", async () => {
  const blocker = await cluster.submit({ entrypoint: "sleep 600" }, ROOT);
  await cluster.reaches(blocker, ["running"]);
  const screen = tmux.open('session --walltime=10m; echo "status=$?"', { cols: 120, rows: 24 });
  const id = (await screen.shows(/session (\d+)\.1 is pending/))[1] ?? "";
  screen.keys("C-c");
  await screen.shows(/^status=130$/m);
  expect((await cluster.ends(id)).state).toBe("cancelled");
});

test("a session survives a closed window and is completed at its walltime", async () => {
  const screen = tmux.open("session --walltime=10m", { cols: 80, rows: 24 });
  const id = (await screen.shows(/session (\d+)\.1 on/))[1] ?? "";
  await screen.shows(/[#$] $/m);
  screen.kill();
  expect((await cluster.allocation(id)).state).toBe("running");
  const attached = await cluster.cli(["attach", id, "--command=echo still here"]);
  expect(attached.stdout).toContain("still here");
  const began = Date.parse((await cluster.allocation(id)).started_at ?? "");
  await eventually({ what: "a few seconds are left to it" }, async () => {
    const seconds = Math.ceil((Date.now() - began) / 1000) + 4;
    return (await cluster.cli(["update", id, `--walltime-seconds=${seconds}`])).code === 0 ? true : null;
  });
  expect((await cluster.ends(id)).state).toBe("completed");
});

test("session endpoints create, show, list and end sessions, also on a running allocation", async () => {
  const created = await cluster.api("POST", "/sessions", { body: { session: { walltime: "5m" } }, ...ROOT });
  expect(created.status).toBe(200);
  const { session_id: id, allocation_id: allocation } = created.body as { session_id: string; allocation_id: string };
  await cluster.reaches(allocation, ["running"]);
  expect((await cluster.api("GET", `/sessions/${id}`)).body).toMatchObject({ state: "running", owns_allocation: true });

  const second = await cluster.api("POST", "/sessions", { body: { allocation_id: allocation }, ...ROOT });
  expect(second.body).toMatchObject({ session_id: `${allocation}.2`, allocation_id: allocation });
  const listed = (await cluster.api<{ sessions: Json[] }>("GET", "/sessions")).body.sessions;
  expect(listed.map((session) => session.id)).toEqual([id, `${allocation}.2`]);
  expect((await cluster.api("DELETE", `/sessions/${allocation}.2`, ROOT)).body).toMatchObject({ state: "running" });
  expect((await cluster.api("DELETE", `/sessions/${id}`, ROOT)).body).toMatchObject({ state: "completed" });
  expect((await cluster.api("DELETE", `/sessions/${id}`, ROOT)).status).toBe(200);
});

test("bad session input is refused by field and nothing is queued", async () => {
  const before = (await cluster.allocations()).length;
  const without = await cluster.cli(["session"]);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain("--walltime");
  const running = await cluster.api("POST", "/sessions", { body: { walltime: "5m", entrypoint: "true" }, ...ROOT });
  expect(running.body).toMatchObject({ status: 400, code: "invalid_argument" });
  expect((await cluster.api("GET", "/sessions/12.9")).body).toMatchObject({ status: 404, code: "unknown_session" });
  expect((await cluster.api("POST", "/sessions", { body: { allocation_id: "77777" } })).status).toBe(404);
  expect((await cluster.allocations()).length).toBe(before);

  const id = await cluster.submit({ entrypoint: "sleep 60" }, { headers: { "x-lattice-user": "mallory" } });
  await cluster.reaches(id, ["running"]);
  const others = await cluster.api("POST", "/sessions", { body: { allocation_id: id }, ...ROOT });
  expect(others.body).toMatchObject({ status: 403, code: "not_owner" });
});
