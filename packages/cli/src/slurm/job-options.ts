// The options that sbatch, salloc and srun share. The parser of #SBATCH lines interprets them, so that a flag and a
// directive never differ.

import { type Option, parseSlurmTime, SLURM_SHORT } from "@lattice/wire";
import type { GivenOption, OptionRule, SlurmCommandLine } from "./command-line.ts";
import { slurmError } from "./slurm-error.ts";

const WITH_VALUE = `account array bb bbf begin chdir clusters comment constraint container core-spec cores-per-socket
  cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution error exclude export export-file
  extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input
  job-name kill-on-invalid-dep licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus
  network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode
  output partition power priority profile qos reservation signal sockets-per-node switches thread-spec
  threads-per-core time time-min tmp tres-per-task uenv uid view wait-all-nodes wckey`.split(/\s+/);
const MAY_HAVE_VALUE = ["exclusive", "nice", "propagate", "get-user-env"];
const ALONE = `contiguous hold ignore-pbs no-kill no-requeue overcommit oversubscribe quiet reboot requeue spread-job
  use-min-nodes verbose`.split(/\s+/);

const letters = new Map(Object.entries(SLURM_SHORT).map(([letter, long]) => [long, letter]));
const rule = (long: string, value?: OptionRule["value"]): OptionRule => {
  const short = letters.get(long);
  return { long, ...(short === undefined ? {} : { short }), ...(value === undefined ? {} : { value }) };
};

export const JOB_RULES: readonly OptionRule[] = [
  ...WITH_VALUE.map((long) => rule(long, "required")),
  ...MAY_HAVE_VALUE.map((long) => rule(long, "optional")),
  ...ALONE.map((long) => rule(long)),
];

const OWN = new Set(JOB_RULES.map(({ long }) => long));

/** Returns the options that describe the job. The caller handles `export`, because it has the variables. */
export function jobOptions(
  program: string,
  words: SlurmCommandLine,
  env: NodeJS.ProcessEnv,
  prefix: string,
): readonly Option[] {
  const given = words.given.filter(({ name }) => OWN.has(name) && name !== "export");
  const time = given.findLast(({ name }) => name === "time")?.value;
  if (time !== undefined && time !== null && !isTime(time)) {
    throw slurmError(program, "Invalid --time specification", 255);
  }
  return [...fromVariables(env, prefix, given), ...given.map(({ name, value, text }) => ({ name, value, text }))];
}

const VARIABLES: Readonly<Record<string, string>> = {
  PARTITION: "partition",
  ACCOUNT: "account",
  QOS: "qos",
  TIMELIMIT: "time",
  CONSTRAINT: "constraint",
  GRES: "gres",
};

/** Reads `SBATCH_PARTITION` and similar variables: they win over the script, flags win over them. */
const fromVariables = (env: NodeJS.ProcessEnv, prefix: string, given: readonly GivenOption[]): readonly Option[] =>
  Object.entries(VARIABLES).flatMap(([suffix, name]) => {
    const value = env[`${prefix}_${suffix}`];
    if (value === undefined || value === "" || given.some((one) => one.name === name)) return [];
    return [{ name, value, text: `${prefix}_${suffix}=${value}` }];
  });

function isTime(text: string): boolean {
  try {
    parseSlurmTime(text);
    return true;
  } catch {
    return false;
  }
}
