// The variables that a job gets from its submitter: the submitting environment or what `--export` names of it, and the
// SLURM_* variables that follow from the request and that agents do not set.

import { hostname } from "node:os";
import { groupIndexes, type JsonObject, type WrittenRange } from "@lattice/wire";
import { slurmError } from "./slurm-error.ts";

/**
 * Variables that describe where a program runs (session, node, devices, rank), and tokens, which must never be copied.
 * The native srun has the same list (packages/cli/native/srun.c).
 */
const NEVER_EXPORTED =
  /^(LATTICE_|SLURM_|SLURMD_|SBATCH_|SALLOC_|SRUN_|PMI_|PMIX_|HYDRA_|MPI_LOCAL|OMPI_MCA_plm|PRTE_MCA_plm|FI_CXI_|(_|PWD|OLDPWD|SHLVL|TERM|HOME|USER|LOGNAME|SHELL|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES)$)/;
/** Inside a task, LD_PRELOAD was set by its node and is valid there only. */
const NEVER_EXPORTED_BY_TASKS = "LD_PRELOAD";

interface ExportedVariables {
  readonly variables: Readonly<Record<string, string>>;
  /** Named by --export but not set. */
  readonly missing: readonly string[];
}

/** Parses `ALL`, `NONE`, `NAME` and `NAME=VALUE`, separated by commas. */
export function exportedVariables(text: string | undefined, env: NodeJS.ProcessEnv): ExportedVariables {
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

/** Every server stores the environment of a job as long as the job. */
const MAX_EXPORTED_BYTES = 256 * 1024;
/** The kernel's limit on one variable. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1;
const MAX_EXPORTED = 1024;

/** Refuses an environment that the servers would refuse, with the way out. */
export function checkExported(program: string, variables: Readonly<Record<string, string>>): void {
  const sizes = Object.entries(variables).map(([name, value]) => [name, byteLength(`${name}=${value}`)] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const [largest = "", most = 0] = sizes.reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0] as const);
  const advice = "export less, with --export=NAME,... or --export=NONE";
  if (most > MAX_VARIABLE_BYTES)
    throw slurmError(
      program,
      `the variable ${largest} has ${most} bytes, the limit is ${MAX_VARIABLE_BYTES}; ${advice}`,
    );
  if (total > MAX_EXPORTED_BYTES)
    throw slurmError(
      program,
      `the environment has ${total} bytes (${largest}: ${most}), the limit is ${MAX_EXPORTED_BYTES}; ${advice}`,
    );
  if (sizes.length > MAX_EXPORTED)
    throw slurmError(program, `the environment has ${sizes.length} variables, the limit is ${MAX_EXPORTED}; ${advice}`);
}

const byteLength = (text: string): number => Buffer.byteLength(text, "utf8");

/** Search paths of this machine, which would hide those of a container's image. */
const PATHS_OF_THIS_MACHINE = /^(PATH|LD_[A-Z_]+|PYTHONHOME|PYTHONPATH|PERL5LIB|MANPATH)$/;

/** Removes the variables that are wrong inside a container. */
export const withoutSearchPaths = (variables: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !PATHS_OF_THIS_MACHINE.test(name)));

/** Puts the Slurm commands of Lattice before the ones of a real Slurm. */
export const withCommandsFirst = (
  variables: Readonly<Record<string, string>>,
  bin: string | undefined,
): Readonly<Record<string, string>> => {
  const { PATH } = variables;
  if (bin === undefined || PATH === undefined || PATH === "") return variables;
  return { ...variables, PATH: [bin, ...PATH.split(":").filter((folder) => folder !== bin)].join(":") };
};

function wholeEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const isTask = env.LATTICE_LAUNCH_ID !== undefined;
  const stays = (name: string): boolean =>
    NEVER_EXPORTED.test(name) || (isTask && name === NEVER_EXPORTED_BY_TASKS) || /\s/.test(name);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || stays(name) ? [] : [[name, value]])),
  );
}

/** Returns the variables that agents cannot know, or know under another name. */
export function slurmVariables(
  options: ReadonlyMap<string, string>,
  submission: JsonObject,
  cwd: string,
): Readonly<Record<string, string>> {
  const { task_group: group } = submission;
  return {
    LATTICE_SUBMIT_DIR: cwd,
    SLURM_SUBMIT_HOST: hostname(),
    SLURM_CLUSTER_NAME: "lattice",
    ...submitterIds(),
    ...optionVariables(options),
    ...(group === undefined ? {} : arrayVariables(group as WrittenRange)),
  };
}

/** The ids of the submitter, as whom the job runs. */
const submitterIds = (): Record<string, string> => ({
  ...(process.getuid === undefined ? {} : { SLURM_JOB_UID: `${process.getuid()}` }),
  ...(process.getgid === undefined ? {} : { SLURM_JOB_GID: `${process.getgid()}` }),
});

/** Variables that hold the value of an option unchanged. */
const OPTION_VARIABLES: readonly (readonly [string, string])[] = [
  ["SLURM_NTASKS", "ntasks"],
  ["SLURM_NPROCS", "ntasks"],
  ["SLURM_CPUS_PER_TASK", "cpus-per-task"],
  ["SLURM_JOB_PARTITION", "partition"],
  ["SLURM_JOB_ACCOUNT", "account"],
  ["SLURM_JOB_QOS", "qos"],
  ["SLURM_JOB_DEPENDENCY", "dependency"],
  ["SLURM_JOB_CONSTRAINTS", "constraint"],
  ["SLURM_GPUS_PER_NODE", "gpus-per-node"],
  ["SLURM_GPUS", "gpus"],
  ["SLURM_NTASKS_PER_NODE", "ntasks-per-node"],
];

function optionVariables(options: ReadonlyMap<string, string>): Record<string, string> {
  const plain = OPTION_VARIABLES.flatMap(([name, option]) => {
    const value = options.get(option);
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  const memory = [
    ["SLURM_MEM_PER_NODE", megabytesOf(options.get("mem"))],
    ["SLURM_MEM_PER_CPU", megabytesOf(options.get("mem-per-cpu"))],
    ["SLURM_GPUS_ON_NODE", gpusOf(options)],
  ] as const;
  const known = memory.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return Object.fromEntries([...plain, ...known]);
}

const MEGABYTES: Readonly<Record<string, number>> = { k: 1 / 1024, m: 1, g: 1024, t: 1_048_576 };

/** Converts `4G` to Slurm's 4096. Returns null without a value, and for 0, which means all memory. */
function megabytesOf(text: string | undefined): string | null {
  const match = /^(\d{1,12})([KMGT])?B?$/i.exec(text ?? "");
  const amount = Math.ceil(Number(match?.[1] ?? 0) * (MEGABYTES[(match?.[2] ?? "m").toLowerCase()] ?? 1));
  return amount === 0 ? null : `${amount}`;
}

/** Returns the last number of `4`, `gh200:4` or `gpu:gh200:4`. */
function gpusOf(options: ReadonlyMap<string, string>): string | null {
  const gres = (options.get("gres") ?? "").split(",").find((item) => item.startsWith("gpu"));
  return /(\d{1,9})$/.exec(options.get("gpus-per-node") ?? gres ?? "")?.[1] ?? null;
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
