// Real processes with their environment, output and end, on one node and on several. All tests share four nodes, so
// they may wait for each other.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 4, groups: ["g0", "g1"] });
const logOf = async (id: string, query = ""): Promise<string> =>
  (await cluster.api("GET", `/allocations/${id}/logs${query}`)).text;

describe("jobs on one node", () => {
  test("an entrypoint runs by /bin/sh -c and its output can be read", async () => {
    const id = await cluster.submit({ entrypoint: 'echo "a b" | tr a-z A-Z; echo to-stderr >&2' });
    const record = await cluster.ends(id);
    expect(record).toMatchObject({ state: "completed", exit_code: 0, attempt: 1 });
    expect(await logOf(id, "?stream=stdout")).toBe("A B\n");
    expect(await logOf(id, "?stream=stderr")).toBe("to-stderr\n");
  });

  test("command words run without a shell", async () => {
    const id = await cluster.submit({ command: ["printf", "%s|", "$HOME", "a b", "*", ""] });
    expect((await cluster.ends(id)).state).toBe("completed");
    expect(await logOf(id, "?stream=stdout")).toBe("$HOME|a b|*||");
  });

  test("a script runs by its own interpreter line", async () => {
    const script = "#!/usr/bin/env node\nconsole.log([1, 2, 3].reduce((a, b) => a + b));\n";
    const id = await cluster.submit({ script });
    expect((await cluster.ends(id)).state).toBe("completed");
    expect(await logOf(id, "?stream=stdout")).toBe("6\n");
  });

  test("the exit code is the job's own", async () => {
    const id = await cluster.submit({ entrypoint: "exit 42" });
    expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "exit_code", exit_code: 42 });
  });

  test("a job killed by a signal reports the signal", async () => {
    const id = await cluster.submit({ entrypoint: "kill -SEGV $$" });
    const record = await cluster.ends(id);
    expect(record.state).toBe("failed");
    expect(["signal", "exit_code"]).toContain(record.reason);
    expect(`${record.message} ${record.exit_code}`).toMatch(/11|SEGV|139/);
  });

  test("a missing command fails with a reason and is not retried forever", async () => {
    const id = await cluster.submit({ command: ["no-such-program-anywhere"] });
    const record = await cluster.ends(id);
    expect(record.state).toBe("failed");
    expect(`${record.reason} ${record.message} ${record.exit_code}`).toMatch(/no-such-program|launch_failed|127/);
  });

  test("a job has variables for its identity, its node and its own settings", async () => {
    const id = await cluster.submit({
      entrypoint: "env",
      name: "looks-around",
      environment: { variables: { GREETING: "hällo wörld" } },
    });
    const record = await cluster.ends(id);
    const env = await logOf(id, "?stream=stdout");
    expect(env).toContain(`LATTICE_ALLOC_ID=${id}\n`);
    expect(env).toContain("LATTICE_ATTEMPT=1\n");
    expect(env).toContain("GREETING=hällo wörld\n");
    expect(env).toContain(`${record.nodes?.[0]}`);
    expect(env).not.toMatch(/^SLURM_/m);
  });
});

describe("jobs on several nodes", () => {
  test("an allocation runs on all its nodes and completes when all have", async () => {
    const file = cluster.file("all-nodes");
    const id = await cluster.submit({
      nodes: 4,
      entrypoint: `echo "$LATTICE_NODE" >> ${file}; sleep 0.$LATTICE_NODEID`,
    });
    const record = await cluster.ends(id);
    expect(record.state).toBe("completed");
    expect([...(record.nodes ?? [])].sort()).toEqual(["node-1", "node-2", "node-3", "node-4"]);
    expect(linesOf(file).sort()).toEqual(["node-1", "node-2", "node-3", "node-4"]);
  });

  test("one failing node fails the allocation and ends it on the others", async () => {
    const file = cluster.file("pids");
    const id = await cluster.submit({
      nodes: 3,
      entrypoint: `echo $$ >> ${file}; if [ "$LATTICE_NODEID" = 1 ]; then sleep 0.5; exit 3; fi; sleep 600`,
    });
    const record = await cluster.ends(id);
    expect(record).toMatchObject({ state: "failed", reason: "exit_code", exit_code: 3 });
    await eventually({ what: "nothing of the allocation is left" }, () =>
      linesOf(file).map(Number).some(isAlive) ? null : true,
    );
    await eventually({ what: "its nodes are free" }, async () =>
      (await cluster.nodes()).some((node) => (node.claims ?? []).some((claim) => claim.allocation_id === id))
        ? null
        : true,
    );
  });

  test("logs can be filtered by node", async () => {
    const id = await cluster.submit({ nodes: 2, entrypoint: 'echo "from $LATTICE_NODE"' });
    const [first = "", second = ""] = (await cluster.ends(id)).nodes ?? [];
    expect(await logOf(id, `?stream=stdout&node=${first}`)).toBe(`from ${first}\n`);
    expect(await logOf(id, `?stream=stdout&node=${second}`)).toBe(`from ${second}\n`);
  });

  test("a small allocation is not spread over groups", async () => {
    const id = await cluster.submit({ nodes: 2, entrypoint: "true" });
    const nodes = (await cluster.ends(id)).nodes ?? [];
    const groups = await Promise.all(
      nodes.map(async (node) => (await cluster.api("GET", `/nodes/${node}`)).body.group),
    );
    expect(new Set(groups).size).toBe(1);
  });

  test("a request for more nodes than exist waits with a reason", async () => {
    const id = await cluster.submit({ nodes: 5, entrypoint: "true" });
    const reasons = await eventually({ what: "a reason is given" }, async () => {
      const { pending_reasons: given, state } = await cluster.allocation(id);
      expect(state).toBe("pending");
      return given !== undefined && given.length > 0 ? given : null;
    });
    expect(reasons.join(" ")).toMatch(/node/i);
    const cancelled = await cluster.api("DELETE", `/allocations/${id}`);
    expect(cancelled.status).toBe(200);
    expect((await cluster.allocation(id)).state).toBe("cancelled");
  });
});

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
