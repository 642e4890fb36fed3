// Converts #SBATCH options to a submission in short form. slurm-table.ts lists ignored and refused options.

import { ProblemError } from "../errors/problem.ts";
import type { Json, JsonObject } from "../json/value.ts";
import { parseSlurmTime } from "../json/walltime.ts";
import { parseTaskGroup } from "../normalise/task-group.ts";
import { own } from "../text/own.ts";
import { type DirectiveProblems, shownOption } from "./directive-problems.ts";
import { expandHostlist } from "./hostlist.ts";
import type { Option } from "./options.ts";
import { memoryGbFrom } from "./short-values.ts";
import {
  DEFAULT_QOS_CLASSES,
  SLURM_DEPENDENCIES,
  SLURM_FLAGS,
  SLURM_IGNORED,
  SLURM_REFUSED,
  SLURM_SHORT,
  SLURM_SILENT,
} from "./slurm-table.ts";

/** The mapping of a site's Slurm names. */
export interface SlurmMapping {
  /** Partition to vCluster; a partition that is not listed keeps its name. */
  readonly partitions?: Readonly<Record<string, string>>;
  /** QoS to preemption class. */
  readonly qos?: Readonly<Record<string, number>>;
  /** Account to tenant; an account that is not listed keeps its name. */
  readonly accounts?: Readonly<Record<string, string>>;
}

interface SlurmSubmission {
  readonly submission: JsonObject;
  readonly warnings: string[];
}

export const slurmLongName = (name: string): string => own(SLURM_SHORT, name) ?? name;

export const slurmTakesValue = (name: string): boolean => !SLURM_FLAGS.has(slurmLongName(name));

/** Adds unsupported options to `problems`, so that all directives of a script are reported together. */
export function submissionFromSlurm(
  options: readonly Option[],
  mapping: SlurmMapping,
  problems: DirectiveProblems,
): SlurmSubmission {
  const work = new SlurmWork(mapping, problems);
  // As in Slurm, a task without -c has one core.
  if (options.length > 0) work.set("cpus_per_task", 1);
  for (const option of lastOfEach(options)) work.take(slurmLongName(option.name), option);
  return { submission: work.finish(), warnings: work.warnings };
}

/** As in Slurm, a repeated option replaces the earlier one. The position of the first is kept for messages. */
function lastOfEach(options: readonly Option[]): readonly Option[] {
  const last = new Map(options.map((option) => [slurmLongName(option.name), option]));
  return options.filter((option) => last.get(slurmLongName(option.name)) === option);
}

class SlurmWork {
  readonly warnings: string[] = [];
  readonly problems: DirectiveProblems;
  readonly #mapping: SlurmMapping;
  readonly #out: Record<string, Json> = {};
  readonly #constraints: Record<string, Json> = {};
  #edges: readonly Json[] = [];
  #memoryPerGpu: number | null = null;
  #gpusPerTask: number | null = null;

  constructor(mapping: SlurmMapping, problems: DirectiveProblems) {
    this.problems = problems;
    this.#mapping = mapping;
  }

  take(name: string, option: Option): void {
    const rule = own(RULES, name);
    const refusal = own(SLURM_REFUSED, name);
    if (refusal !== undefined) this.problems.unsupported(option, refusal);
    else if (rule === undefined) this.#ignore(name, option);
    else if (option.value === null && slurmTakesValue(name)) this.problems.invalid(option, "needs a value");
    else rule(this, option.value ?? "", option);
  }

  #ignore(name: string, option: Option): void {
    if (!SLURM_SILENT.has(name)) this.warn(option, own(SLURM_IGNORED, name) ?? "Lattice has no equivalent");
  }

  warn(option: Option, why: string): void {
    this.warnings.push(`${written(option)} ignored (${why})`);
  }

  set(field: string, value: Json): void {
    this.#out[field] = value;
  }

  constrain(name: string, value: Json): void {
    this.#constraints[name] = value;
  }

  whole(option: Option, value: string): number | null {
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    this.problems.invalid(option, "needs a whole number, 1 or more");
    return null;
  }

  memoryPerGpu(gigabytes: number): void {
    this.#memoryPerGpu = gigabytes;
  }

  gpusPerTask(count: number): void {
    this.#gpusPerTask = count;
  }

  depend(edges: readonly Json[]): void {
    this.#edges = edges;
  }

  qos(option: Option, value: string): void {
    const found = own(this.#mapping.qos ?? DEFAULT_QOS_CLASSES, value.toLowerCase());
    if (found === undefined) this.warn(option, "no preemption class is configured for this QoS");
    else this.set("preemption_class", found);
  }

  account(value: string): void {
    this.set("tenant", own(this.#mapping.accounts ?? {}, value) ?? value);
  }

  partition(value: string): void {
    this.set("vcluster", own(this.#mapping.partitions ?? {}, value) ?? value);
  }

  #named(edge: Json): Json {
    if (edge !== SINGLETON) return edge;
    const { name } = this.#out;
    return { ref: typeof name === "string" && name !== "" ? name : "singleton", condition: "mutex" };
  }

  /** Without `--nodes` the server finds the nodes that the tasks need; no fewer than are named. */
  finish(): JsonObject {
    const isNodeCountSet = this.#out.nodes !== undefined;
    const { required_nodes: named } = this.#constraints;
    if (!isNodeCountSet && Array.isArray(named) && named.length > 1) this.#out.nodes = named.length;
    this.#requestMemoryOfGpus();
    if (this.#out.error_file !== undefined) this.#out.output_file ??= slurmOutputFile(this.#out);
    if (this.#edges.length > 0) this.#out.depends_on = this.#edges.map((edge) => this.#named(edge));
    if (Object.keys(this.#constraints).length > 0) this.#out.constraints = this.#constraints;
    return this.#out;
  }

  /** `--mem-per-gpu` needs the number of GPUs, which may come later in the script. */
  #requestMemoryOfGpus(): void {
    const gpus = this.#constraints.gpu_count;
    if (this.#memoryPerGpu !== null && typeof gpus === "number")
      this.#constraints.memory_gb = this.#memoryPerGpu * gpus;
    if (this.#gpusPerTask !== null) this.#out.total_gpus = this.#gpusPerTask * Number(this.#out.tasks ?? 1);
  }
}

/** Returns the directive line of a script, or the flag of the caller. */
const written = (option: Option): string =>
  option.line === undefined ? shownOption(option) : `#SBATCH ${shownOption(option)}`;

/** Converts `singleton`: one job per name at a time. The name may come later in the script. */
const SINGLETON: JsonObject = { condition: "mutex" };

type Rule = (work: SlurmWork, value: string, option: Option) => void;

const text =
  (field: string): Rule =>
  (work, value) =>
    work.set(field, value);

function count(field: string): Rule {
  return (work, value, option) => {
    const found = work.whole(option, value);
    if (found !== null) work.set(field, found);
  };
}

/** Slurm's amounts are megabytes without a unit; 0 means all memory of the node. */
function memory(take: (work: SlurmWork, gigabytes: number) => void): Rule {
  return (work, value, option) => {
    const gigabytes = memoryGbFrom(/^\d+$/.test(value) ? `${value}M` : value);
    if (typeof gigabytes === "string") work.problems.invalid(option, "is not an amount of memory, such as 4G or 512M");
    else if (gigabytes > 0) take(work, gigabytes);
  };
}

const hosts =
  (name: string): Rule =>
  (work, value, option) => {
    const names = expandHostlist(value);
    if (names === null) work.problems.invalid(option, "is not a list of nodes");
    else work.constrain(name, names);
  };

const RULES: Readonly<Record<string, Rule>> = {
  nodes: nodesRule,
  ntasks: count("tasks"),
  "ntasks-per-node": count("tasks_per_node"),
  "cpus-per-task": count("cpus_per_task"),
  mincpus: (work, value, option) => {
    const cores = work.whole(option, value);
    if (cores !== null) work.constrain("cpu_cores", cores);
  },
  mem: memory((work, gigabytes) => work.constrain("memory_gb", gigabytes)),
  "mem-per-cpu": memory((work, gigabytes) => work.set("memory_gb_per_cpu", gigabytes)),
  "mem-per-gpu": memory((work, gigabytes) => work.memoryPerGpu(gigabytes)),
  exclusive: (work) => work.set("exclusive", true),
  overcommit: (work) => work.set("overcommit", true),
  gpus: (work, value, option) => {
    const gpus = gpusOf(work, value, option);
    if (gpus === null) return;
    if (gpus.type !== undefined) work.constrain("gpu_type", gpus.type);
    work.set("total_gpus", gpus.count);
  },
  "gpus-per-task": (work, value, option) => {
    const gpus = gpusOf(work, value, option);
    if (gpus === null) return;
    if (gpus.type !== undefined) work.constrain("gpu_type", gpus.type);
    work.gpusPerTask(gpus.count);
  },
  time: timeRule,
  partition: (work, value) => work.partition(value),
  account: (work, value) => work.account(value),
  "job-name": text("name"),
  qos: (work, value, option) => work.qos(option, value),
  constraint: constraintRule,
  gres: gresRule,
  "gpus-per-node": (work, value, option) => gpuRule(work, value, option),
  chdir: text("workdir"),
  uenv: text("uenv"),
  view: text("view"),
  requeue: (work) => work.set("requeue_policy", "on_node_failure"),
  "no-requeue": (work) => work.set("requeue_policy", "never"),
  hold: (work) => work.set("hold", true),
  comment: (work, value) => work.set("tags", { comment: value }),
  nodelist: hosts("required_nodes"),
  exclude: hosts("excluded_nodes"),
  export: exportRule,
  output: text("output_file"),
  error: text("error_file"),
  "open-mode": openModeRule,
  array: arrayRule,
  dependency: dependencyRule,
};

/** Slurm's default output file. */
export const slurmOutputFile = ({ task_group }: JsonObject): string =>
  task_group === undefined ? "slurm-%j.out" : "slurm-%A_%a.out";

function openModeRule(work: SlurmWork, value: string, option: Option): void {
  if (value === "append") work.set("output", { append: true });
  else if (value !== "truncate") work.problems.invalid(option, "is not a mode", "Write append or truncate.");
}

function arrayRule(work: SlurmWork, value: string, option: Option): void {
  try {
    work.set("task_group", parseTaskGroup(value, "array"));
  } catch (error) {
    const [field] = error instanceof ProblemError ? error.problem.fields : [];
    work.problems.invalid(option, field?.detail ?? "is not a range of indexes", "Write it as 0-99:2%20 or 1,3,5-7%2.");
  }
}

/** Parses `afterok:12:13,afterany:14` and `singleton`. Refuses "or" and delays, because they would change what runs. */
function dependencyRule(work: SlurmWork, value: string, option: Option): void {
  const edges: Json[] = [];
  for (const item of value.split(",")) {
    const [kind = "", ...ids] = item.split(":");
    if (kind === "singleton" && ids.length === 0) {
      edges.push(SINGLETON);
      continue;
    }
    const condition = own(SLURM_DEPENDENCIES, kind);
    if (condition === undefined || ids.length === 0 || ids.some((id) => !/^\d+(_\d+)?$/.test(id))) {
      work.problems.unsupported(option, "supported types: afterok, afternotok, afterany, aftercorr, singleton");
      return;
    }
    edges.push(...ids.map((ref) => ({ ref, condition })));
  }
  work.depend(edges);
}

function nodesRule(work: SlurmWork, value: string, option: Option): void {
  const match = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(value);
  if (match === null) work.problems.invalid(option, "needs a count or a range such as 2-4");
  else if (match[2] === undefined) work.set("nodes", Number(match[1]));
  else work.set("nodes", { min: Number(match[1]), max: Number(match[2]) });
}

function timeRule(work: SlurmWork, value: string, option: Option): void {
  try {
    const seconds = parseSlurmTime(value);
    if (seconds === null) work.warn(option, "every job has a limit; the default of its vCluster applies");
    else work.set("walltime_seconds", seconds);
  } catch {
    work.problems.invalid(option, "is not a duration", 'Write it as minutes, "HH:MM:SS" or "D-HH:MM:SS".');
  }
}

/** Accepts "and" only: alternatives and counts per feature would place the job elsewhere. */
function constraintRule(work: SlurmWork, value: string, option: Option): void {
  if (/[|[\]*()]/.test(value)) work.problems.unsupported(option, "only features joined by & are supported");
  else
    work.constrain(
      "features",
      value.split(/[&,]/).filter((feature) => feature !== ""),
    );
}

function gresRule(work: SlurmWork, value: string, option: Option): void {
  for (const item of value.split(",")) {
    const [kind, ...rest] = item.split(":");
    if (kind?.toLowerCase() === "gpu") gpuRule(work, rest.join(":"), option);
    else if (item !== "" && item !== "none")
      work.warn({ ...option, text: `--gres=${item}` }, "use --constraint with a feature of the nodes");
  }
}

function gpuRule(work: SlurmWork, value: string, option: Option): void {
  const gpus = gpusOf(work, value, option);
  if (gpus === null) return;
  if (gpus.type !== undefined) work.constrain("gpu_type", gpus.type);
  work.constrain("gpu_count", gpus.count);
}

interface Gpus {
  readonly type: string | undefined;
  readonly count: number;
}

/** Parses `4`, `gh200:4`, `gh200`, or an empty text, which means one. */
function gpusOf(work: SlurmWork, value: string, option: Option): Gpus | null {
  const match = /^(?:([A-Za-z][\w.-]*))?:?(\d{1,4})?(?:\(.*\))?$/.exec(value);
  if (match !== null) return { type: match[1], count: Number(match[2] ?? 1) };
  work.problems.invalid(option, "needs a number of GPUs, such as gpu:4 or gpu:gh200:4");
  return null;
}

function exportRule(work: SlurmWork, value: string, option: Option): void {
  const pairs = value.split(",").filter((item) => item.includes("="));
  const names = value.split(",").filter((item) => item !== "" && !item.includes("="));
  if (pairs.length > 0) {
    work.set(
      "env",
      Object.fromEntries(pairs.map((item) => [item.slice(0, item.indexOf("=")), item.slice(item.indexOf("=") + 1)])),
    );
  }
  if (names.some((name) => name !== "NONE")) {
    work.warn(
      { ...option, text: `--export=${names.join(",")}` },
      "the submitting shell's variables are not carried over; use NAME=VALUE",
    );
  }
}
