// Environment of the ranks of a node, from a server's order and the context of its attempt: the variables that programs rely
// on, the network's, a launcher's where a library looks for one, and where the server of PMIx stands.
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { describe, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { fabricProvider } from "../../src/tasks/facilities.ts";
import { rankEnvironment } from "../../src/tasks/shepherd/rank-environment.ts";
import { shepherdSpec } from "../../src/tasks/spec.ts";
import type { TaskContext } from "../../src/tasks/task-context.ts";

const layout = [
  { node: "n1", firstRank: 0, tasks: 3 },
  { node: "n2", firstRank: 3, tasks: 2 },
].map((share) => create(pb.NodeTasksSchema, share));

const orderOf = (more: Partial<pb.StartTasks> = {}): pb.StartTasks =>
  create(pb.StartTasksSchema, {
    ...{ launchId: "7.1.abc.4", allocationId: "7", attempt: 1, nodeIndex: 1, layout },
    ...{ command: ["app"], pmi: pb.PmiMode.PMI2, ...more },
  } as Parameters<typeof create<typeof pb.StartTasksSchema>>[1]);

interface Given {
  readonly workdir?: string;
  readonly image?: string;
  readonly slurmEnv?: boolean;
  readonly prefix?: readonly string[];
  readonly owner?: TaskContext["owner"];
  readonly environment?: Record<string, string>;
}

function taskContext({
  workdir = "/work",
  image = "",
  slurmEnv = false,
  prefix = [],
  owner = null,
  environment = {},
}: Given = {}): TaskContext {
  const software = image === "" ? undefined : { image };
  const job = { LATTICE_NODE: "n2", LATTICE_ATTEMPT_DIR: "/a/7.1", LATTICE_USER: "alice", LATTICE_SCRATCH: "/s/7.1" };
  const order = { slurmEnv, workdir, environment: software } as unknown as TaskContext["order"];
  return {
    dir: "/a/7.1",
    joinBy: "",
    files: directFiles,
    order,
    prefix,
    owner,
    root: "/proc/1/root",
    cwd: "/a",
    umask: "0022",
    environment: { ...job, ...environment },
  };
}

const fabric = { provider: "verbs", preload: "/lib/shim.so" } as const;

function environmentOf(order: pb.StartTasks, context: TaskContext, localRank = 1): Record<string, string> {
  const spec = shepherdSpec(order, context, fabric, null);
  if (spec === null) throw new Error("a specification was expected");
  return rankEnvironment(spec, localRank);
}

test("the second rank of the second node has every documented variable", () => {
  expect(environmentOf(orderOf({ variables: { OMP_NUM_THREADS: "8" } }), taskContext())).toEqual({
    ...{ LATTICE_ALLOC_ID: "7", LATTICE_LAUNCH_ID: "7.1.abc.4", LATTICE_NODELIST: "n1,n2", LATTICE_NNODES: "2" },
    ...{
      LATTICE_NODEID: "1",
      LATTICE_NPROCS: "5",
      LATTICE_RANK: "4",
      LATTICE_LOCAL_RANK: "1",
      LATTICE_LOCAL_SIZE: "2",
    },
    ...{ LATTICE_NODE: "n2", LATTICE_ATTEMPT_DIR: "/a/7.1", LATTICE_USER: "alice", LATTICE_SCRATCH: "/s/7.1" },
    ...{ PMI_FD: "3", PMI_RANK: "4", PMI_SIZE: "5", PMI_SPAWNED: "0", PMI_JOBID: "7.1.abc.4" },
    ...{ MPI_LOCALRANKID: "1", MPI_LOCALNRANKS: "2", FI_PROVIDER: "verbs", LD_PRELOAD: "/lib/shim.so" },
    OMP_NUM_THREADS: "8",
  });
});

describe("variables of a job or a launch", () => {
  test("user variables override those of the network, but not the job's markers", () => {
    const context = taskContext({ environment: { FI_PROVIDER: "shm", LD_PRELOAD: "/lib/mine.so" } });
    const order = orderOf({ variables: { LATTICE_ATTEMPT_DIR: "/elsewhere", LATTICE_RANK: "99" } });
    expect(environmentOf(order, context)).toMatchObject({
      ...{ FI_PROVIDER: "shm", LD_PRELOAD: "/lib/mine.so:/lib/shim.so" },
      ...{ LATTICE_ATTEMPT_DIR: "/a/7.1", LATTICE_RANK: "4" },
    });
  });

  test("Slingshot credentials have libfabric's format", () => {
    const cxi = create(pb.CxiCredentialsSchema, { vni: 1001, authKey: Buffer.from([1, 255]), svcId: 9 });
    const named = { FI_PROVIDER: "cxi", FI_CXI_DEFAULT_VNI: "1001", FI_CXI_AUTH_KEY: "01ff", FI_CXI_SVC_ID: "9" };
    expect(environmentOf(orderOf({ cxi }), taskContext())).toMatchObject(named);
  });

  test("plain tasks have no PMI variables, and Slurm names only when the job has them", () => {
    const plain = environmentOf(orderOf({ pmi: pb.PmiMode.NONE }), taskContext());
    expect(Object.keys(plain).filter((name) => /^(PMI|SLURM|LD_PRELOAD)/.test(name))).toEqual([]);
    expect(environmentOf(orderOf(), taskContext({ slurmEnv: true }))).toMatchObject({
      ...{ SLURM_PROCID: "4", SLURM_LOCALID: "1", SLURM_NPROCS: "5", SLURM_NODELIST: "n[1-2]", SLURM_STEP_ID: "4" },
      ...{ SLURM_NODEID: "1", SLURM_NNODES: "2", SLURM_STEP_TASKS_PER_NODE: "3,2", SLURM_GTIDS: "3,4" },
    });
  });
});

describe("the PMIx server", () => {
  const entered = ["nsenter", "--target=9", "--mount", "--setuid=1000", "--"];
  const placed = (context: TaskContext) =>
    shepherdSpec(orderOf({ pmi: pb.PmiMode.PMIX }), context, fabric, "/helper")?.pmix;

  test("the PMIx server runs in the job with its own directory", () => {
    expect(placed(taskContext({ prefix: entered }))).toMatchObject({
      ...{ helper: "/helper", place: 1, prefix: entered, folder: "/tmp/lattice-pmix-" },
      nodes: layout.map(({ node, firstRank, tasks }) => ({ node, firstRank, tasks })),
    });
  });

  test("the PMIx server of a container sees the node's files, and is in the job's network as its user", () => {
    const inJob = ["/lattice-enter", "--target=9", "--mount", "--net", "--setuid=1000", "--"];
    const prefix = ["/lattice-enter", "--target=9", "--net", "--setuid=1000", "--"];
    const owner = { uid: 1000, gid: 100, groups: [100, 27] };
    const folder = "/s/7.1/.lattice-pmix-";
    expect(placed(taskContext({ image: "i", prefix: inJob, owner }))).toMatchObject({ prefix, folder });
    expect(placed(taskContext({ image: "i", prefix: ["nsenter", "--mount", "--"] }))).toMatchObject({
      prefix: [],
      folder,
    });
  });
});

test.each([
  [["/sys/class/cxi", "/sys/class/infiniband"], "cxi"],
  [["/sys/class/infiniband"], "verbs"],
  [[], "tcp"],
])("with %j the network is %s", (there, provider) => {
  expect(fabricProvider((folder) => (there.includes(folder) ? ["dev0"] : []))).toBe(provider);
});

test("an order without tasks for this node starts nothing", () => {
  expect(shepherdSpec(orderOf({ nodeIndex: 2 }), taskContext(), fabric, null)).toBeNull();
});

describe("where ranks start", () => {
  const enter = ["/usr/lib/lattice-enter", "--target=7", "--"];
  const startOf = (given: Given, order = orderOf()) => {
    const { prefix, workdir } = shepherdSpec(order, taskContext(given), fabric, null) ?? {};
    return { prefix, workdir };
  };

  test("the directory of the job is entered by its process, with the rights of its user", () => {
    expect(startOf({ prefix: enter, workdir: "" })).toEqual({
      prefix: ["/usr/lib/lattice-enter", "--workdir", "--target=7", "--"],
      workdir: "",
    });
  });

  test("a requested directory is entered by its path", () => {
    expect(startOf({ prefix: enter, workdir: "/work" })).toEqual({ prefix: enter, workdir: "/work" });
    expect(startOf({ prefix: enter }, orderOf({ workdir: "/other" }))).toEqual({ prefix: enter, workdir: "/other" });
  });

  test("ranks of the agent's own user start in the directory of the job", () => {
    expect(startOf({ workdir: "" })).toEqual({ prefix: [], workdir: "/a" });
  });
});
