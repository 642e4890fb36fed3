// Real processes from order to report: how they are started, what they see, how they end.

import { availableParallelism } from "node:os";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, rig } from "../rig.ts";

describe("running attempts", () => {
  let r: Rig;
  let next = 100;
  const id = (): string => String(next++);
  beforeAll(async () => {
    r = await rig();
  });
  afterAll(() => r.close());

  test("a shell runs an entrypoint, which reports running and completed", async () => {
    const a = id();
    r.server.run({ allocationId: a, entrypoint: "echo one; echo two >&2; exit 0" });
    expect(await r.server.end(a)).toMatchObject({ state: pb.AllocationState.COMPLETED, exitCode: 0, reason: "" });
    expect((await r.server.running(a)).ageMs).toBeGreaterThanOrEqual(0);
    expect(r.file(a, "stdout")).toBe("one\n");
    expect(r.file(a, "stderr")).toBe("two\n");
  });

  test.each([
    ["a code", { entrypoint: "exit 3" }, { reason: "exit_code", exitCode: 3 }],
    ["words, as they are", { command: ["/bin/sh", "-c", "exit 4"] }, { reason: "exit_code", exitCode: 4 }],
    ["a word that is a shell builtin", { command: ["exit", "5"] }, { reason: "exit_code", exitCode: 127 }],
    ["a missing command", { command: ["/no/such/command"] }, { reason: "exit_code", exitCode: 127 }],
    ["a file that cannot be run", { command: ["/etc/passwd"] }, { reason: "exit_code", exitCode: 126 }],
    ["a signal", { entrypoint: "kill -SEGV $$" }, { reason: "signal", exitCode: 139 }],
    [
      "a missing working directory",
      { entrypoint: "true", workdir: "/no/such/dir" },
      { reason: "prologue_failed", stage: "workdir" },
    ],
    ["a command too long for the kernel", { command: ["echo", "x".repeat(200_000)] }, { reason: "launch_failed" }],
  ])("fails with %s", async (_name, order, expected) => {
    const a = id();
    r.server.run({ allocationId: a, ...order });
    const report = await r.server.end(a);
    expect(report).toMatchObject({ state: pb.AllocationState.FAILED, ...expected });
    expect(report.message).not.toBe("");
  });

  test("command words are not interpreted", async () => {
    const a = id();
    r.server.run({ allocationId: a, command: ["printf", "[%s]", "$HOME", "a b", "*", ""] });
    await r.server.end(a);
    expect(r.file(a, "stdout")).toBe("[$HOME][a b][*][]");
  });

  test("a script runs by its interpreter line, or by the shell", async () => {
    const [a, b] = [id(), id()];
    r.server.run({ allocationId: a, script: "#!/bin/cat\nline\n" });
    r.server.run({ allocationId: b, script: "echo plain; exit 9\n" });
    await r.server.end(a);
    expect(r.file(a, "stdout")).toBe("#!/bin/cat\nline\n");
    expect(await r.server.end(b)).toMatchObject({ exitCode: 9 });
    expect(r.file(b, "stdout")).toBe("plain\n");
  });

  test("the environment is clean, names the allocation, and nothing of the wrapper is in it", async () => {
    const a = "7001_3";
    r.server.run({
      allocationId: a,
      attempt: 2,
      command: ["env"],
      name: "train",
      tenant: "physics",
      user: "ada",
      vcluster: "hpc",
      nodes: ["n1", "n2"],
      nodeIndex: 1,
      tasksPerNode: 4,
      variables: { d: "mine", X: "1 2", LATTICE_ALLOC_ID: "999", SLURM_JOB_ID: "999", SLURM_JOB_PARTITION: "debug" },
      slurmEnv: true,
    });
    await r.server.end(a, 2);
    const env = Object.fromEntries(
      r
        .file(a, "stdout", 2)
        .trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
    expect(env).toMatchObject({
      d: "mine",
      X: "1 2",
      LATTICE_ALLOC_ID: a,
      LATTICE_ATTEMPT: "2",
      LATTICE_JOB_NAME: "train",
      LATTICE_NODELIST: "n1,n2",
      LATTICE_NNODES: "2",
      LATTICE_NODEID: "1",
      LATTICE_NODE: "n1",
      LATTICE_NPROCS: "8",
      LATTICE_TASK_INDEX: "3",
      SLURM_JOB_ID: a,
      SLURM_NTASKS: "8",
      SLURM_JOB_ACCOUNT: "physics",
      SLURM_JOB_PARTITION: "debug",
      SLURM_JOB_QOS: "normal",
      SLURM_TASKS_PER_NODE: "4(x2)",
      SLURM_CPUS_ON_NODE: String(availableParallelism()),
      SLURM_JOB_CPUS_PER_NODE: `${availableParallelism()}(x2)`,
      SLURM_PROCID: "4",
      SLURM_LOCALID: "0",
      SLURM_RESTART_COUNT: "1",
      SLURM_ARRAY_TASK_ID: "3",
      SLURMD_NODENAME: "n1",
    });
    expect(Object.keys(env)).not.toContain("VITEST");
  });

  test("Slurm variables are set only on request", async () => {
    const a = id();
    r.server.run({ allocationId: a, command: ["env"] });
    await r.server.end(a);
    expect(r.file(a, "stdout")).not.toContain("SLURM");
  });

  test("a repeated order starts one process and is answered each time", async () => {
    const a = id();
    for (let n = 0; n < 5; n++) r.server.run({ allocationId: a, entrypoint: "echo once; sleep 0.2" });
    await r.server.end(a);
    r.server.run({ allocationId: a, entrypoint: "echo once" });
    await r.server.end(a);
    const other = id();
    r.server.run({ allocationId: other, command: ["true"] });
    await r.server.end(other);
    expect(r.file(a, "stdout")).toBe("once\n");
  });

  test("another attempt of the same allocation is another process", async () => {
    const a = id();
    r.server.run({ allocationId: a, attempt: 1, entrypoint: "echo $LATTICE_ATTEMPT" });
    await r.server.end(a, 1);
    r.server.run({ allocationId: a, attempt: 2, entrypoint: "echo $LATTICE_ATTEMPT" });
    await r.server.end(a, 2);
    expect([r.file(a, "stdout", 1), r.file(a, "stdout", 2)]).toEqual(["1\n", "2\n"]);
  });

  test("a malformed id never becomes a folder", async () => {
    r.server.run({ allocationId: "../../evil", command: ["true"] });
    const a = id();
    r.server.run({ allocationId: a, command: ["true"] });
    await r.server.end(a);
    expect(r.server.reports.some((report) => report.allocationId.includes("evil"))).toBe(false);
  });
});
