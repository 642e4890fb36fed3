// Tasks in a running allocation, and real MPICH and OpenMPI programs on several agents without SSH: started from
// outside and inside a job, with every kind of ending. Tests that keep their allocation share one.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { compileMpi, type MpiLibrary, type MpiProgram } from "../harness/mpi.ts";
import { isAlive, processesIn } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

// Four nodes exceed the limit here and exchange addresses among themselves; two use the server.
const cluster = useCluster({
  nodes: 4,
  config: "tasks: { fence_star_nodes: 3 }\n",
  agentArgs: ["--peer-listen", "127.0.0.1:0"],
});
const SUMS = [
  "rank 0 of 4: sum 6, from 3: 3",
  "rank 1 of 4: sum 6, from 0: 0",
  "rank 2 of 4: sum 6, from 1: 1",
  "rank 3 of 4: sum 6, from 2: 2",
];
const NAMED = ["found: 0 tag#0$of_rank_0$", "missing: 1", "published: 0", "unpublished: 0"];
const programs = new Map<string, string>();

/** Compiled on first use. */
function program(name: MpiProgram, library: MpiLibrary = "mpich"): string {
  const key = `${library} ${name}`;
  const path = programs.get(key) ?? compileMpi(cluster.dir, name, library);
  programs.set(key, path);
  return path;
}

const openMpi = (name: MpiProgram): string => program(name, "openmpi");

/** One allocation for all tests of a group. */
function shared(nodes: number): { readonly id: string } {
  const held = { id: "" };
  beforeAll(async () => {
    held.id = await reserve(nodes);
  });
  afterAll(async () => {
    await cluster.api("DELETE", `/allocations/${held.id}`);
    await cluster.ends(held.id);
  });
  return held;
}

/** An allocation that only holds its nodes. */
async function reserve(nodes: number): Promise<string> {
  const id = await cluster.submit({ nodes, walltime: "1h", command: ["sleep", "3000"] });
  await cluster.reaches(id, ["running"]);
  return id;
}

async function within<T>(nodes: number, act: (id: string) => Promise<T>): Promise<T> {
  const id = await reserve(nodes);
  try {
    return await act(id);
  } finally {
    await cluster.api("DELETE", `/allocations/${id}`);
    await cluster.ends(id);
  }
}

const lines = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .sort();

describe("launches over two nodes", () => {
  const held = shared(2);

  test("plain tasks are laid out in blocks with their own environment and labelled output", async () => {
    const { id } = held;
    const show = 'echo "$LATTICE_NODE $LATTICE_RANK $LATTICE_LOCAL_RANK/$LATTICE_LOCAL_SIZE $LATTICE_NPROCS $A"';
    const result = await cluster.cli(["launch", `--alloc=${id}`, "-n", "3", "--env", "A=b c", "-l", "sh", "-c", show]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    const [first = "", second = ""] = (await cluster.allocation(id)).nodes ?? [];
    expect(lines(result.stdout)).toEqual([
      `0: ${first} 0 0/2 3 b c`,
      `1: ${first} 1 1/2 3 b c`,
      `2: ${second} 2 0/1 3 b c`,
    ]);
  });

  test("four MPICH ranks exchange large messages and agree on a sum, several times", async () => {
    const { id } = held;
    for (let round = 0; round < 3; round += 1) {
      const result = await cluster.cli([
        "launch",
        `--alloc=${id}`,
        "-n",
        "4",
        "--tasks-per-node",
        "2",
        program("allreduce"),
      ]);
      expect(result).toMatchObject({ code: 0, stderr: "" });
      expect(lines(result.stdout)).toEqual(SUMS);
    }
  });

  test("MPICH 4.0 over TCP ends instead of hanging in MPI_Finalize", async () => {
    const { id } = held;
    for (let round = 0; round < 4; round += 1) {
      const args = ["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", "--env", "UCX_TLS=tcp,self"];
      const result = await cluster.cli([...args, program("allreduce")]);
      expect(result.code).toBe(0);
      expect(lines(result.stdout)).toHaveLength(4);
    }
  });

  test("a failing task ends the launch with its exit code and reason", async () => {
    const { id } = held;
    const launch = (...words: string[]) =>
      cluster.cli(["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", ...words]);
    const aborted = await launch(program("abort"));
    expect(aborted.code).toBe(7);
    expect(aborted.stderr).toContain("task 1 aborted the launch");
    const left = await launch(program("leave"));
    expect(left.code).toBe(9);
    expect(left.stderr).toMatch(/task 2 on node-\d ended with exit code 9/);
    const missing = await launch("no-such-program");
    expect(missing.code).toBe(127);
    expect(missing.stderr).toContain("command not found: no-such-program");
    const killed = await launch("sh", "-c", '[ "$LATTICE_RANK" = 3 ] && kill -9 $$; sleep 30');
    expect(killed.code).toBe(137);
    expect(killed.stderr).toMatch(/task 3 on node-\d was killed by signal 9/);
    const silent = await launch(
      "sh",
      "-c",
      'printf "cmd=init pmi_version=1 pmi_subversion=1\\n" >&3; read x <&3; exit 0',
    );
    expect(silent.stderr).toContain("it ended without MPI_Finalize");
    expect(silent.code).toBe(1);
  });

  test("a launch reports the exit code of every rank and exits with the first failure", async () => {
    // It fails after the others have ended; a running one would be ended with it.
    const place = cluster.file("ranks");
    mkdirSync(place);
    const line = [
      `[ "$LATTICE_RANK" = 2 ] || { echo $$ > ${place}/$LATTICE_RANK; exit 0; }`,
      "for rank in 0 1 3; do",
      `  until [ -s ${place}/$rank ] && ! kill -0 "$(cat ${place}/$rank)" 2>/dev/null; do sleep 0.1; done`,
      "done",
      "exit 5",
    ].join("\n");
    const words = ["launch", "-o", "json", `--alloc=${held.id}`, "-n", "4", "sh", "-c", line];
    const { code, stdout } = await cluster.cli(words);
    expect(code).toBe(5);
    const events = lines(stdout).map((text) => JSON.parse(text) as { kind: string; rank: number; exitCode: number });
    const ends = events.filter(({ kind }) => kind === "task_end");
    expect(Object.fromEntries(ends.map(({ rank, exitCode }) => [rank, exitCode]))).toEqual({ 0: 0, 1: 0, 2: 5, 3: 0 });
    const last = events.find(({ kind }) => kind === "end");
    expect(last).toMatchObject({ exitCode: 5, reason: expect.stringMatching(/^task 2 on node-/) });
  });

  test("ranks stop waiting for a missing rank after the fence timeout", async () => {
    const { id } = held;
    const command = `[ "$LATTICE_RANK" = 3 ] && sleep 60; exec ${program("hello")}`;
    const args = ["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", "--fence-timeout=1"];
    const result = await cluster.cli([...args, "sh", "-c", command]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("PMI fence timeout");
  });

  test("MPICH names are published and found, and MPI_Comm_spawn is refused", async () => {
    const launch = (name: MpiProgram) =>
      cluster.cli(["launch", `--alloc=${held.id}`, "-n", "4", "--tasks-per-node=2", program(name)]);
    const named = await launch("names");
    expect(named).toMatchObject({ code: 0 });
    expect(lines(named.stdout)).toEqual(NAMED);
    // Stock MPICH over UCX refuses by itself, without a request.
    expect((await launch("spawn")).stdout).toContain("spawned: 0");
  });

  test("launches of one allocation share /dev/shm, in sequence and in parallel", async () => {
    const launch = (line: string) =>
      cluster.cli(["launch", `--alloc=${held.id}`, "-w", first, "-n", "1", "sh", "-c", line]);
    const first = (await cluster.allocation(held.id)).nodes?.[0] ?? "";
    expect((await launch("echo kept > /dev/shm/mine")).code).toBe(0);
    const both = await Promise.all([launch("cat /dev/shm/mine; sleep 1"), launch("cat /dev/shm/mine; sleep 1")]);
    expect(both.map(({ stdout }) => stdout)).toEqual(["kept\n", "kept\n"]);
    expect(existsSync("/dev/shm/mine"), "no other process sees it").toBe(false);
  });

  test("a launch relays output of any size and form, and sends input to the first task", async () => {
    const { id } = held;
    const big = await cluster.cli([
      "launch",
      `--alloc=${id}`,
      "-n",
      "2",
      "sh",
      "-c",
      "head -c 8000000 /dev/zero | tr '\\0' x",
    ]);
    expect(big.stdout.length).toBe(16_000_000);
    const echoed = await cluster.cli(["launch", `--alloc=${id}`, "-n", "2", "-i", "cat"], { input: "one\ntwo\n" });
    expect(echoed).toMatchObject({ code: 0, stdout: "one\ntwo\n" });
    const terminal = await cluster.cli([
      "launch",
      `--alloc=${id}`,
      "-n",
      "1",
      "--pty",
      "sh",
      "-c",
      "tty; test -t 0 && test -t 1",
    ]);
    expect(terminal.code).toBe(0);
    expect(terminal.stdout).toContain("/dev/pts/");
  });

  test("tasks end when the caller disconnects and when the allocation is cancelled", async () => {
    await within(2, async (id) => {
      const child = spawnCli(["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", program("rounds"), "60"], {
        env: cluster.cliEnvironment(),
      });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      expect(ranksOf(id).length).toBeGreaterThanOrEqual(4);
      child.kill("SIGINT");
      await eventually({ what: "its ranks are gone" }, () => (ranksOf(id).length === 0 ? true : null));
      expect((await cluster.allocation(id)).state).toBe("running");

      const other = cluster.cli(["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", program("rounds"), "60"]);
      await eventually({ what: "its ranks are there" }, () => (ranksOf(id).length >= 4 ? true : null));
      await cluster.api("DELETE", `/allocations/${id}`);
      expect((await other).code).not.toBe(0);
      await cluster.ends(id);
      await eventually({ what: "its ranks are gone too" }, () => (ranksOf(id).length === 0 ? true : null));
    });
  });

  test("kill -9 of a rank's shepherd ends its ranks and the launch", async () => {
    const { id } = held;
    const launched = cluster.cli(["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", program("rounds"), "60"]);
    await eventually({ what: "its ranks are there" }, () => (ranksOf(id).length >= 4 ? true : null));
    // A warm one may wait for the next launch.
    process.kill(parentOf(ranksOf(id)[0] ?? 0), "SIGKILL");
    const result = await launched;
    expect(result.code).not.toBe(0);
    await eventually({ what: "its ranks are gone" }, () => (ranksOf(id).length === 0 ? true : null));
  });

  test("ranks survive kill -9 of an agent, and the launch continues when the agent is back", async () => {
    const { id } = held;
    const launched = cluster.cli(["launch", `--alloc=${id}`, "-n", "4", "--tasks-per-node=2", program("rounds"), "10"]);
    await eventually({ what: "its ranks are there" }, () => (ranksOf(id).length >= 4 ? true : null));
    const [, second = ""] = (await cluster.allocation(id)).nodes ?? [];
    const before = ranksOf(id);
    await cluster.agent(second).kill();
    cluster.startAgent(second);
    expect(before.every(isAlive)).toBe(true);
    const result = await launched;
    expect(result).toMatchObject({ code: 0 });
    expect(lines(result.stdout)).toEqual(["rank 0 done", "rank 1 done", "rank 2 done", "rank 3 done", "working"]);
  });
});

describe("OpenMPI launches by PMIx over two nodes", () => {
  const held = shared(2);
  const launch = (name: MpiProgram, ...flags: string[]) =>
    cluster.cli([
      "launch",
      `--alloc=${held.id}`,
      "-n",
      "4",
      "--tasks-per-node=2",
      "--pmi=pmix",
      ...flags,
      openMpi(name),
    ]);

  test("four OpenMPI ranks exchange large messages and agree on a sum", async () => {
    const result = await launch("allreduce");
    expect(result).toMatchObject({ code: 0 });
    expect(lines(result.stdout)).toEqual(SUMS);
    expect(lines((await launch("hello")).stdout)).toEqual([0, 1, 2, 3].map((rank) => `rank ${rank} of 4`));
    const output = await cluster.cli([
      ...["launch", `--alloc=${held.id}`, "-n", "2", "--tasks-per-node=1", "--pmi=pmix"],
      ...["sh", "-c", "echo $PMIX_SERVER_TMPDIR"],
    ]);
    const folders = lines(output.stdout);
    expect(folders).toHaveLength(2);
    expect(folders.filter((folder) => !folder.startsWith("/tmp/lattice-pmix-") || existsSync(folder))).toEqual([]);
  });

  test("OpenMPI names are published and found, and MPI_Comm_spawn is refused with a message", async () => {
    const named = await launch("names");
    expect(named).toMatchObject({ code: 0 });
    expect(lines(named.stdout)).toEqual(NAMED);
    const spawned = await launch("spawn");
    expect(spawned.stderr).toContain("lattice: task 0 requested more tasks (MPI_Comm_spawn)");
    expect(spawned.stdout).not.toContain("spawned: 1");
  });

  test("an OpenMPI rank that aborts, exits early or never starts ends the launch", async () => {
    const aborted = await launch("abort");
    expect(aborted.code).toBe(7);
    expect(aborted.stderr).toContain("task 1 aborted the launch");
    const left = await launch("leave");
    expect(left.code).toBe(9);
    const command = `[ "$LATTICE_RANK" = 3 ] && sleep 60; exec ${openMpi("hello")}`;
    const args = ["launch", `--alloc=${held.id}`, "-n", "4", "--tasks-per-node=2", "--pmi=pmix", "--fence-timeout=2"];
    const late = await cluster.cli([...args, "sh", "-c", command]);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain("PMI fence timeout");
  });
});

test("sixteen ranks over four nodes agree on a sum", async () => {
  await within(4, async (id) => {
    const result = await cluster.cli(["launch", `--alloc=${id}`, "--tasks-per-node=4", program("allreduce")]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(lines(result.stdout)).toHaveLength(16);
    expect(result.stdout).toContain("rank 15 of 16: sum 120, from 14: 14");
    const list = ["sh", "-c", 'ls "$LATTICE_ATTEMPT_DIR/launches/$LATTICE_LAUNCH_ID"'];
    const place = await cluster.cli(["launch", `--alloc=${id}`, ...list]);
    expect(place.stdout, "the agents know their places in the tree").toContain("fence\n");
  });
});

test("launch calls of a script on every node form one launch", async () => {
  const script = `#!/bin/sh
lattice launch -n 4 --tasks-per-node=2 ${program("hello")}
echo "code $?" > ${cluster.dir}/after-$LATTICE_NODE
lattice launch sh -c 'echo again on $LATTICE_NODE; exit 3'
`;
  const id = await cluster.submit({ nodes: 2, walltime: "10m", script });
  const end = await cluster.ends(id);
  expect(end).toMatchObject({ state: "failed", exit_code: 3 });
  const log = await cluster.api("GET", `/allocations/${id}/logs?stream=stdout`);
  const output = lines(log.text);
  expect(output.filter((line) => line.startsWith("rank"))).toEqual([0, 1, 2, 3].map((rank) => `rank ${rank} of 4`));
  for (const node of end.nodes ?? []) {
    const file = `${cluster.dir}/after-${node}`;
    expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe("code 0\n");
  }
});

test("Hydra's own mpiexec inside a job reaches the other nodes through Lattice instead of ssh", async () => {
  await within(2, async (id) => {
    const mpiexec = ["mpiexec.hydra", "-n", "4", program("allreduce")];
    const result = await cluster.cli(["launch", `--alloc=${id}`, "-n", "1", "--pmi=none", ...mpiexec]);
    expect(result.stderr).toBe("");
    expect(result.code).toBe(0);
    expect(result.stdout).toContain("rank 3 of 4: sum 6, from 2: 2");
    const failed = await cluster.cli([
      "launch",
      `--alloc=${id}`,
      "-n",
      "1",
      "--pmi=none",
      "mpiexec.hydra",
      "-n",
      "4",
      program("abort"),
    ]);
    expect(failed.code).toBe(7);
  });
});

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

/** The ranks of `rounds`; their environment names their allocation. */
function ranksOf(id: string): readonly number[] {
  return processesIn(cluster.dir).filter((pid) => {
    if (!commandOf(pid).startsWith(program("rounds"))) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`\0LATTICE_ALLOC_ID=${id}\0`);
    } catch {
      return false;
    }
  });
}
