// Builds the shepherd's specification from a server's order and the attempt's context: the environment of all ranks, and
// the ranks of this node. Pure.

import { hostlistOf, pb } from "@lattice/wire";
import { intoWorkdir, isEnterProgram, withoutMounts } from "../base/enter-program.ts";
import type { PmixSpec, ShepherdSpec } from "./frames.ts";
import { processMapping } from "./pmi/mapping.ts";
import type { TaskContext } from "./task-context.ts";

export interface NodeFabric {
  /** libfabric's name of the best network this node has. */
  readonly provider: "cxi" | "verbs" | "tcp";
  /** Library that keeps old MPICH from hanging in MPI_Finalize, or "". */
  readonly preload: string;
}

const DEFAULT_FENCE_TIMEOUT_SECONDS = 60;

export function shepherdSpec(
  order: pb.StartTasks,
  context: TaskContext,
  fabric: NodeFabric,
  pmixHelper: string | null,
): ShepherdSpec | null {
  const own = order.layout[order.nodeIndex];
  if (own === undefined) return null;
  const size = order.layout.reduce((sum, { tasks }) => sum + tasks, 0);
  const seconds = order.fenceTimeoutSeconds > 0 ? order.fenceTimeoutSeconds : DEFAULT_FENCE_TIMEOUT_SECONDS;
  return {
    launchId: order.launchId,
    size,
    firstRank: own.firstRank,
    tasks: own.tasks,
    mapping: processMapping(order.layout.map(({ tasks }) => tasks)),
    spread: order.layout.length > 1,
    pmi: order.pmi !== pb.PmiMode.NONE && pmixHelper === null,
    pmix: pmixHelper === null ? null : pmixOf(order, context, pmixHelper),
    command: order.command,
    ...placeOf(order, context),
    umask: context.umask,
    inImage: Boolean(context.order.environment?.image),
    environment: sharedEnvironment(order, context, fabric, size),
    slurmEnv: context.order.slurmEnv,
    resizeBy: context.files.commandFor("resize", context.owner),
    pty: order.pty ? { rows: order.rows, columns: order.columns } : null,
    input: order.input,
    fenceTimeoutMs: seconds * 1000,
    preload: fabric.preload,
  };
}

const pmixOf = (order: pb.StartTasks, context: TaskContext, helper: string): PmixSpec => ({
  helper,
  ...pmixPlace(context),
  nodes: order.layout.map(({ node, firstRank, tasks }) => ({ node, firstRank, tasks })),
  place: order.nodeIndex,
});

/**
 * An image may lack what the helper needs, so it sees the files of the node and meets its ranks in a shared directory. All
 * else is the job's: its user can trace the helper, and must not leave the job's network through it.
 */
function pmixPlace({ order, prefix, owner, environment }: TaskContext): Pick<PmixSpec, "prefix" | "folder"> {
  const { LATTICE_SCRATCH: scratch } = environment;
  if (!order.environment?.image || scratch === undefined) return { prefix, folder: "/tmp/lattice-pmix-" };
  return { prefix: owner === null ? [] : withoutMounts(prefix), folder: `${scratch}/.lattice-pmix-` };
}

/** Where ranks start. The directory of the job, and not its path, which may lead elsewhere by now. */
function placeOf(
  order: pb.StartTasks,
  { prefix, cwd, ...context }: TaskContext,
): Pick<ShepherdSpec, "prefix" | "workdir"> {
  const requested = order.workdir === "" ? context.order.workdir : order.workdir;
  if (requested !== "") return { prefix, workdir: requested };
  return isEnterProgram(prefix) && cwd !== "."
    ? { prefix: intoWorkdir(prefix), workdir: "" }
    : { prefix, workdir: cwd };
}

function sharedEnvironment(
  order: pb.StartTasks,
  context: TaskContext,
  fabric: NodeFabric,
  size: number,
): Record<string, string> {
  const nodes = order.layout.map(({ node }) => node).join(",");
  const count = String(order.layout.length);
  return {
    FI_PROVIDER: fabric.provider,
    ...context.environment,
    ...order.variables,
    ...marked(context),
    ...cxiNames(order.cxi),
    LATTICE_LAUNCH_ID: order.launchId,
    LATTICE_ALLOC_ID: order.allocationId,
    LATTICE_NODELIST: nodes,
    LATTICE_NNODES: count,
    LATTICE_NPROCS: String(size),
    LATTICE_NODEID: String(order.nodeIndex),
    ...(context.order.slurmEnv ? slurmNames(order, count) : {}),
    ...(order.pmi === pb.PmiMode.PMIX ? launcherNames(order, nodes) : {}),
  };
}

/** The job's marker, by which its tasks are found; a launch cannot remove it. */
export function marked({ environment }: Pick<TaskContext, "environment">): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const value = environment[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

const KEPT = ["LATTICE_ATTEMPT_DIR", "LATTICE_ATTEMPT", "LATTICE_NODE", "LATTICE_USER", "LATTICE_TENANT"] as const;

/** In the format of libfabric's CXI provider. */
const cxiNames = (cxi: pb.CxiCredentials | undefined): Record<string, string> =>
  cxi === undefined
    ? {}
    : {
        FI_PROVIDER: "cxi",
        FI_CXI_DEFAULT_VNI: String(cxi.vni),
        FI_CXI_AUTH_KEY: Buffer.from(cxi.authKey).toString("hex"),
        FI_CXI_SVC_ID: String(cxi.svcId),
      };

const stepOf = (order: pb.StartTasks): string => /\d+$/.exec(order.launchId)?.[0] ?? "0";

/** OpenMPI 4 assumes a singleton start, with or without PMIx, unless it sees these. */
const launcherNames = (order: pb.StartTasks, nodes: string): Record<string, string> => ({
  SLURM_JOBID: order.allocationId,
  SLURM_NODELIST: nodes,
  SLURM_STEP_ID: stepOf(order),
});

/** OpenMPI takes a process for one of Slurm's only when it has a step. */
const slurmNames = (order: pb.StartTasks, count: string): Record<string, string> => {
  const nodes = hostlistOf(order.layout.map(({ node }) => node));
  const step = stepOf(order);
  const perNode = tasksOnEach(order.layout.map(({ tasks }) => tasks));
  const { firstRank = 0, tasks = 0 } = order.layout[order.nodeIndex] ?? {};
  return {
    SLURM_TASKS_PER_NODE: perNode,
    SLURM_STEP_TASKS_PER_NODE: perNode,
    SLURM_GTIDS: Array.from({ length: tasks }, (_, local) => firstRank + local).join(","),
    SLURM_STEP_ID: step,
    SLURM_STEPID: step,
    SLURM_NODELIST: nodes,
    SLURM_STEP_NODELIST: nodes,
    SLURM_NNODES: count,
    SLURM_STEP_NUM_NODES: count,
    SLURM_NODEID: String(order.nodeIndex),
  };
};

/** `2(x3),1`: two tasks on each of three nodes, then one on the next. */
function tasksOnEach(counts: readonly number[]): string {
  const runs: { tasks: number; nodes: number }[] = [];
  for (const tasks of counts) {
    const last = runs.at(-1);
    if (last?.tasks === tasks) last.nodes += 1;
    else runs.push({ tasks, nodes: 1 });
  }
  return runs.map(({ tasks, nodes }) => (nodes > 1 ? `${tasks}(x${nodes})` : `${tasks}`)).join(",");
}
