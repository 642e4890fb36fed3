// Slurm's variables for an attempt. The submission may override the partition, the account and the QoS, which Lattice
// names differently.

import { availableParallelism } from "node:os";
import { hostlistOf, type pb } from "@lattice/wire";
import type { ReceivedOrder } from "../../lifecycle/attempt.ts";

export interface SlurmFacts {
  readonly nodeId: string;
  readonly nodeCount: number;
  readonly processCount: number;
  readonly submitDir: string;
}

export function slurmNames({ order, arrivedAtMs }: ReceivedOrder, around: SlurmFacts): Record<string, string> {
  const [parent, index] = order.allocationId.split("_");
  const nodes = hostlistOf(order.nodes);
  const tasks = tasksOf(order.variables.SLURM_NTASKS, around.processCount);
  const count = String(around.nodeCount);
  const { variables } = order;
  return {
    SLURM_JOB_ID: order.allocationId,
    SLURM_JOBID: order.allocationId,
    SLURM_JOB_NAME: order.name,
    SLURM_NODELIST: nodes,
    SLURM_JOB_NODELIST: nodes,
    SLURM_NNODES: count,
    SLURM_JOB_NUM_NODES: count,
    SLURM_NTASKS: String(tasks),
    SLURM_NPROCS: String(tasks),
    SLURM_TASKS_PER_NODE: tasksOnEach(tasks, Math.max(1, order.tasksPerNode), around.nodeCount),
    SLURM_SUBMIT_DIR: around.submitDir,
    SLURM_CLUSTER_NAME: variables.SLURM_CLUSTER_NAME ?? "lattice",
    SLURM_JOB_PARTITION: variables.SLURM_JOB_PARTITION ?? order.vcluster,
    SLURM_JOB_ACCOUNT: variables.SLURM_JOB_ACCOUNT ?? order.tenant,
    SLURM_JOB_QOS: variables.SLURM_JOB_QOS ?? "normal",
    SLURM_JOB_USER: order.user,
    ...nodeNames(order, around),
    ...timeNames(order, arrivedAtMs),
    ...(index === undefined ? {} : { SLURM_ARRAY_JOB_ID: parent ?? "", SLURM_ARRAY_TASK_ID: index }),
  };
}

/** Tasks may be fewer than the nodes have room for: seven tasks are four and three. */
const tasksOf = (requested: string | undefined, room: number): number =>
  requested !== undefined && /^[1-9]\d{0,8}$/.test(requested) ? Math.min(Number(requested), room) : room;

function tasksOnEach(tasks: number, perNode: number, nodes: number): string {
  const full = Math.min(nodes, Math.floor(tasks / perNode));
  const rest = tasks - full * perNode;
  const left = nodes - full - (rest > 0 ? 1 : 0);
  const parts = [
    ...(full > 0 ? [onEach(perNode, full)] : []),
    ...(rest > 0 ? [String(rest)] : []),
    ...(left > 0 ? [onEach(0, left)] : []),
  ];
  return parts.join(",");
}

/** The first task is the script itself; launched tasks get their own numbers. */
function nodeNames(
  { nodeIndex, tasksPerNode, limits }: pb.RunOrder,
  { nodeId, nodeCount }: SlurmFacts,
): Record<string, string> {
  const cores = limits?.cpuCores || availableParallelism();
  const first = String(nodeIndex * Math.max(1, tasksPerNode));
  return {
    SLURMD_NODENAME: nodeId,
    SLURM_NODEID: String(nodeIndex),
    SLURM_PROCID: first,
    SLURM_GTIDS: first,
    SLURM_LOCALID: "0",
    SLURM_CPUS_ON_NODE: String(cores),
    SLURM_JOB_CPUS_PER_NODE: onEach(cores, nodeCount),
    SLURM_TOPOLOGY_ADDR: nodeId,
    SLURM_TOPOLOGY_ADDR_PATTERN: "node",
    ...(limits === undefined || limits.gpuCount === 0 ? {} : { SLURM_GPUS_ON_NODE: String(limits.gpuCount) }),
  };
}

function timeNames({ walltimeSeconds, attempt }: pb.RunOrder, arrivedAtMs: number): Record<string, string> {
  const start = Math.floor(arrivedAtMs / 1000);
  return {
    SLURM_JOB_START_TIME: String(start),
    ...(walltimeSeconds === 0 ? {} : { SLURM_JOB_END_TIME: String(start + walltimeSeconds) }),
    ...(attempt <= 1 ? {} : { SLURM_RESTART_COUNT: String(attempt - 1) }),
  };
}

/** `2(x3)`: two on each of three nodes. */
const onEach = (amount: number, nodes: number): string => (nodes > 1 ? `${amount}(x${nodes})` : String(amount));
