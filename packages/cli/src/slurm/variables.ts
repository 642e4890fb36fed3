// The variables that a job gets from whoever submits it: those that `--export` names, and the names of
// Slurm that follow from the request and that nobody else would set. Without `--export` nothing of the
// submitting shell is carried over: what a job's record holds can be read by others.

import { hostname } from "node:os";
import { groupIndexes, type JsonObject, type WrittenRange } from "@lattice/wire";

/** They say where a program runs, not what it is to do; tokens above all must not travel. */
const NEVER = /^(LATTICE_|SLURM_|SBATCH_|SALLOC_|SRUN_|_$|PWD$|OLDPWD$|SHLVL$|TERM$|HOME$|USER$|LOGNAME$|SHELL$)/;

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

const wholeEnvironment = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || NEVER.test(name) ? [] : [[name, value]])),
  );

/** What the agents cannot know. */
export function slurmVariables(
  asked: ReadonlyMap<string, string>,
  submission: JsonObject,
  cwd: string,
): Readonly<Record<string, string>> {
  const { nodes, tasks_per_node: perNode, task_group: group } = submission;
  const cpus = asked.get("cpus-per-task");
  const count = typeof nodes === "object" ? 1 : Number(nodes ?? 1);
  return {
    LATTICE_SUBMIT_DIR: cwd,
    SLURM_SUBMIT_HOST: hostname(),
    SLURM_CLUSTER_NAME: "lattice",
    SLURM_TASKS_PER_NODE: count > 1 ? `${perNode ?? 1}(x${count})` : `${perNode ?? 1}`,
    ...(perNode === undefined ? {} : { SLURM_NTASKS_PER_NODE: `${perNode}` }),
    ...(cpus === undefined ? {} : { SLURM_CPUS_PER_TASK: cpus }),
    ...(group === undefined ? {} : arrayVariables(group as WrittenRange)),
  };
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
