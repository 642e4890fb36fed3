// The environment of a workload: a small clean base, the submission's variables, and Lattice's variables, on request
// also under Slurm's names. Lattice's names come last, so that a submission cannot impersonate another allocation.

import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { MARKER } from "../../host/isolation/process-group.ts";
import type { ReceivedOrder } from "../../lifecycle/attempt.ts";
import { type SlurmFacts, slurmNames } from "./slurm-names.ts";

/** File with the nodes of the job, in Hydra's format. */
export const HOST_FILE = "hosts";

interface JobContext {
  readonly nodeId: string;
  readonly attemptDir: string;
  /** The agent's own environment. */
  readonly base: Readonly<Record<string, string | undefined>>;
  /** Set unless the submission sets them; its PATH is appended in any case. */
  readonly offered?: Readonly<Record<string, string>>;
}

export function environment(received: ReceivedOrder, around: JobContext): Record<string, string> {
  const { order } = received;
  const own = submitted(order.variables);
  return {
    ...withOffered(inherited(around.base), around.offered ?? {}),
    ...(order.apiToken === "" ? {} : { LATTICE_TOKEN: order.apiToken }),
    ...own,
    ...(own.PATH === undefined ? {} : { PATH: withFolders(own.PATH, around.offered?.PATH) }),
    ...latticeNames(order, around),
    ...(order.slurmEnv ? slurmNames(received, slurmFacts(order, around.nodeId)) : {}),
    [MARKER]: around.attemptDir,
  };
}

/** The submission's own variables of Lattice: how its programs reach the servers. All others are the agent's to set. */
const OWN_CHOICE: ReadonlySet<string> = new Set([
  ...["LATTICE_API_URL", "LATTICE_CA", "LATTICE_ENDPOINT", "LATTICE_TOKEN"],
  ...["LATTICE_LAUNCH_PATIENCE", "LATTICE_SUBMIT_DIR"],
]);

/** A submission from within a job brings that job's variables, so they are dropped, not refused. */
const submitted = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => !name.startsWith("LATTICE_") || OWN_CHOICE.has(name)),
  );

const INHERITED = ["PATH", "HOME", "USER", "LANG", "SHELL"] as const;
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function inherited(base: JobContext["base"]): Record<string, string> {
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
  return { ...base, ...offered, ...(PATH === undefined ? {} : { PATH: withFolders(base.PATH ?? DEFAULT_PATH, PATH) }) };
}

/** Programs of Lattice are found in every job, after all others of their names. */
function withFolders(path: string, more: string | undefined): string {
  const folders = path.split(":");
  return [...folders, ...(more ?? "").split(":").filter((one) => one !== "" && !folders.includes(one))].join(":");
}

function latticeNames(order: pb.RunOrder, around: JobContext): Record<string, string> {
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

const slurmFacts = (order: pb.RunOrder, nodeId: string): SlurmFacts => ({
  nodeId,
  nodeCount: nodeCount(order),
  processCount: processCount(order),
  submitDir: submitDir(order),
});

const nodeCount = (order: pb.RunOrder): number => Math.max(1, order.nodes.length);
const processCount = (order: pb.RunOrder): number => nodeCount(order) * Math.max(1, order.tasksPerNode);
/** The client states its folder; else it is the job's working directory. */
const submitDir = (order: pb.RunOrder): string => order.variables.LATTICE_SUBMIT_DIR ?? order.workdir;
