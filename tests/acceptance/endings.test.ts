// Cancel and walltime end the whole process tree, including processes that left their group or session. Programs that
// ignore SIGTERM are in walltime.test.ts.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive, pidsIn } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 4 });

describe.concurrent("endings", () => {
  test("cancel kills children, grandchildren and processes that left the session", async () => {
    const file = cluster.file("tree");
    const tree = [
      `echo $$ >> ${file}`,
      `sh -c 'echo $$ >> ${file}; sh -c "echo \\$\\$ >> ${file}; sleep 600" & sleep 600' &`,
      `setsid sh -c 'echo $$ >> ${file}; sleep 600' &`,
      `setsid -f sh -c 'echo $$ >> ${file}; trap "" HUP; exec sleep 600'`,
      "wait",
    ].join("\n");
    const id = await cluster.submit({ entrypoint: tree });
    const pids = await eventually({ what: "the whole tree has started" }, () => {
      const found = pidsIn(file);
      return found.length === 5 ? found : null;
    });
    expect(pids.every(isAlive)).toBe(true);
    expect((await cluster.api("POST", `/allocations/${id}/cancel`, { body: {} })).status).toBe(200);
    expect((await cluster.allocation(id)).state).toBe("cancelled");
    await eventually({ what: "every process of the tree has ended" }, () => (pids.some(isAlive) ? null : true));
    await cluster.released(id);
  });

  test("a finished job leaves no process behind", async () => {
    const file = cluster.file("left-behind");
    const id = await cluster.submit({ entrypoint: `setsid -f sh -c 'echo $$ >> ${file}; exec sleep 600'; sleep 0.2` });
    expect((await cluster.ends(id)).state).toBe("completed");
    const [pid = -1] = pidsIn(file);
    await eventually({ what: "the process left behind has ended" }, () => (isAlive(pid) ? null : true));
  });

  test("SIGTERM ends a job at its walltime at once", async () => {
    const file = cluster.file("polite");
    const id = await cluster.submit({
      walltime: "00:00:05",
      entrypoint: `trap 'echo asked >> ${file}; exit 0' TERM; sleep 600 & wait`,
    });
    expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "walltime_exceeded" });
    expect(readFileSync(file, "utf8")).toBe("asked\n");
    await cluster.released(id);
  });
});

test("cancel refuses a finished allocation and changes nothing", async () => {
  const id = await cluster.submit({ entrypoint: "true" });
  await cluster.ends(id);
  const answer = await cluster.api("DELETE", `/allocations/${id}`);
  expect(answer.status).toBe(409);
  expect(answer.body).toMatchObject({ code: "illegal_transition" });
  expect((await cluster.allocation(id)).state).toBe("completed");
});

test("cancel removes a pending allocation from the queue", async () => {
  const id = await cluster.submit({ nodes: 4, constraints: { cpu_cores: 100_000 }, entrypoint: "true" });
  expect((await cluster.api("DELETE", `/allocations/${id}`)).status).toBe(200);
  expect(await cluster.allocation(id)).toMatchObject({ state: "cancelled" });
});
