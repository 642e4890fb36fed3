// The environment of a workload: a small clean base, the submission's own variables, and what
// Lattice says about the allocation, under its own names and, when asked for, under Slurm's.
// Lattice's names come last, so that a submission cannot pretend to be another allocation.

import { join } from "node:path";
import type { Order } from "../../lifecycle/attempt.ts";
import { type SlurmAround, slurmNames } from "./slurm-names.ts";

/** Beside the order: the nodes of the job, as Hydra reads them. */
export const HOST_FILE = "hosts";

/** Carried by every process of an attempt: how those that left the process group are found. */
export const MARKER = "LATTICE_ATTEMPT_DIR";

export interface Surroundings {
  readonly nodeId: string;
  readonly attemptDir: string;
  /** The agent's own environment. */
  readonly base: Readonly<Record<string, string | undefined>>;
  /** Said unless the submission says otherwise; its PATH is added behind. */
  readonly offered?: Readonly<Record<string, string>>;
}

export function environment(order: Order, around: Surroundings): Record<string, string> {
  return {
    ...withOffered(inherited(around.base), around.offered ?? {}),
    ...(order.apiToken === undefined || order.apiToken === "" ? {} : { LATTICE_TOKEN: order.apiToken }),
    ...order.variables,
    ...latticeNames(order, around),
    ...(order.slurmEnv ? slurmNames(order, slurmAround(order, around.nodeId)) : {}),
    [MARKER]: around.attemptDir,
  };
}

const INHERITED = ["PATH", "HOME", "USER", "LANG", "SHELL"] as const;
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function inherited(base: Surroundings["base"]): Record<string, string> {
  const kept: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const name of INHERITED) {
    const value = base[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

function withOffered(
  base: Readonly<Record<string, string>>,
  { PATH, ...offered }: Readonly<Record<string, string>>,
): Record<string, string> {
  return { ...base, ...offered, ...(PATH === undefined ? {} : { PATH: `${base.PATH ?? DEFAULT_PATH}:${PATH}` }) };
}

function latticeNames(order: Order, around: Surroundings): Record<string, string> {
  const [parent, index] = order.allocationId.split("_");
  return {
    LATTICE_ALLOC_ID: order.allocationId,
    LATTICE_ATTEMPT: String(order.attempt),
    LATTICE_JOB_NAME: order.name,
    LATTICE_NODELIST: order.nodes.join(","),
    LATTICE_NNODES: String(nodeCount(order)),
    LATTICE_NODEID: String(order.nodeIndex),
    LATTICE_NODE: around.nodeId,
    LATTICE_NPROCS: String(processCount(order)),
    LATTICE_SUBMIT_DIR: submitDir(order),
    LATTICE_TENANT: order.tenant,
    LATTICE_USER: order.user,
    LATTICE_VCLUSTER: order.vcluster,
    HYDRA_HOST_FILE: join(around.attemptDir, HOST_FILE),
    ...(index === undefined ? {} : { LATTICE_TASK_GROUP_ID: parent ?? "", LATTICE_TASK_INDEX: index }),
  };
}

const slurmAround = (order: Order, nodeId: string): SlurmAround => ({
  nodeId,
  nodeCount: nodeCount(order),
  processCount: processCount(order),
  submitDir: submitDir(order),
});

const nodeCount = (order: Order): number => Math.max(1, order.nodes.length);
const processCount = (order: Order): number => nodeCount(order) * Math.max(1, order.tasksPerNode);
/** The client says where it stood; else it is where the job runs. */
const submitDir = (order: Order): string => order.variables.LATTICE_SUBMIT_DIR ?? order.workdir;
