// The variables that a job gets from whoever submits it: those that `--export` names, and the names of
// Slurm that follow from the request and that nobody else would set. Without `--export` nothing of the
// submitting shell is carried over into a job: what its record holds can be read by others. The tasks of srun get all
// of it, as in Slurm: they are in no record.

import { hostname } from "node:os";
import { groupIndexes, type JsonObject, type WrittenRange } from "@lattice/wire";

/**
 * They say where a program runs, not what it is to do: the session, the node, its devices, the rank. Tokens above all must
 * not travel. The small srun has the same list (packages/cli/native/srun.c).
 */
const NEVER =
  /^(LATTICE_|SLURM_|SLURMD_|SBATCH_|SALLOC_|SRUN_|PMI_|PMIX_|HYDRA_|MPI_LOCAL|OMPI_MCA_plm|PRTE_MCA_plm|FI_CXI_|(_|PWD|OLDPWD|SHLVL|TERM|HOME|USER|LOGNAME|SHELL|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES)$)/;
/** What a task was given to be loaded is its node's. */
const NEVER_OF_TASKS = "LD_PRELOAD";

export interface Exported {
  readonly variables: Readonly<Record<string, string>>;
  /** Named, and not set. */
  readonly missing: readonly string[];
}

/** `ALL`, `NONE`, `NAME`, `NAME=VALUE`, joined by commas. */
export function exportedVariables(text: string | undefined, env: NodeJS.ProcessEnv): Exported {
  const variables: Record<string, string> = {};
  const missing: string[] = [];
  for (const item of (text ?? "").split(",").filter((part) => part !== "" && part !== "NONE" && part !== "NIL")) {
    const equals = item.indexOf("=");
    const value = env[item];
    if (item === "ALL") Object.assign(variables, wholeEnvironment(env));
    else if (equals > 0) variables[item.slice(0, equals)] = item.slice(equals + 1);
    else if (value !== undefined) variables[item] = value;
    else missing.push(item);
  }
  return { variables, missing };
}

function wholeEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const isTask = env.LATTICE_LAUNCH_ID !== undefined;
  const stays = (name: string): boolean => NEVER.test(name) || (isTask && name === NEVER_OF_TASKS) || /\s/.test(name);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || stays(name) ? [] : [[name, value]])),
  );
}

/** What the agents cannot know, or know by another name. */
export function slurmVariables(
  asked: ReadonlyMap<string, string>,
  submission: JsonObject,
  cwd: string,
): Readonly<Record<string, string>> {
  const { nodes, tasks_per_node: perNode, task_group: group } = submission;
  const count = typeof nodes === "object" ? 1 : Number(nodes ?? 1);
  return {
    LATTICE_SUBMIT_DIR: cwd,
    SLURM_SUBMIT_HOST: hostname(),
    SLURM_CLUSTER_NAME: "lattice",
    SLURM_TASKS_PER_NODE: count > 1 ? `${perNode ?? 1}(x${count})` : `${perNode ?? 1}`,
    ...ownNumbers(),
    ...(perNode === undefined ? {} : { SLURM_NTASKS_PER_NODE: `${perNode}` }),
    ...askedVariables(asked),
    ...(group === undefined ? {} : arrayVariables(group as WrittenRange)),
  };
}

/** Of the submitter, whom the job runs as. */
const ownNumbers = (): Record<string, string> => ({
  ...(process.getuid === undefined ? {} : { SLURM_JOB_UID: `${process.getuid()}` }),
  ...(process.getgid === undefined ? {} : { SLURM_JOB_GID: `${process.getgid()}` }),
});

/** An option's own words, by the variable that holds them. */
const ASKED: readonly (readonly [string, string])[] = [
  ["SLURM_CPUS_PER_TASK", "cpus-per-task"],
  ["SLURM_JOB_PARTITION", "partition"],
  ["SLURM_JOB_ACCOUNT", "account"],
  ["SLURM_JOB_QOS", "qos"],
  ["SLURM_JOB_DEPENDENCY", "dependency"],
  ["SLURM_JOB_CONSTRAINTS", "constraint"],
  ["SLURM_GPUS_PER_NODE", "gpus-per-node"],
];

function askedVariables(asked: ReadonlyMap<string, string>): Record<string, string> {
  const plain = ASKED.flatMap(([name, option]) => {
    const value = asked.get(option);
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  const memory = [
    ["SLURM_MEM_PER_NODE", megabytesOf(asked.get("mem"))],
    ["SLURM_MEM_PER_CPU", megabytesOf(asked.get("mem-per-cpu"))],
    ["SLURM_GPUS_ON_NODE", gpusOf(asked)],
  ] as const;
  const known = memory.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return Object.fromEntries([...plain, ...known]);
}

const MEGABYTES: Readonly<Record<string, number>> = { k: 1 / 1024, m: 1, g: 1024, t: 1_048_576 };

/** `4G` as Slurm tells it: 4096. Null: not said, or all that there is. */
function megabytesOf(text: string | undefined): string | null {
  const match = /^(\d{1,12})([KMGT])?B?$/i.exec(text ?? "");
  const amount = Math.ceil(Number(match?.[1] ?? 0) * (MEGABYTES[(match?.[2] ?? "m").toLowerCase()] ?? 1));
  return amount === 0 ? null : `${amount}`;
}

/** `4`, `gh200:4`, `gpu:gh200:4`: the last number. */
function gpusOf(asked: ReadonlyMap<string, string>): string | null {
  const gres = (asked.get("gres") ?? "").split(",").find((item) => item.startsWith("gpu"));
  return /(\d{1,9})$/.exec(asked.get("gpus-per-node") ?? gres ?? "")?.[1] ?? null;
}

function arrayVariables(range: WrittenRange): Record<string, string> {
  const { size, step, at } = groupIndexes(range);
  return {
    SLURM_ARRAY_TASK_COUNT: `${size}`,
    SLURM_ARRAY_TASK_MIN: `${at(0)}`,
    SLURM_ARRAY_TASK_MAX: `${at(size - 1)}`,
    SLURM_ARRAY_TASK_STEP: `${step}`,
  };
}
