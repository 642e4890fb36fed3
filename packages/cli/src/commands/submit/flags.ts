// The flags of `submit`, and the short-form submission they produce. Values are passed on as written: the server parses
// durations, ranges and constraints and rejects unsupported ones, so that every client gets the same answer.

import type { LivenessProbe } from "@lattice/sdk";
import { checkpointOf, exposedOf, gpusFrom, memoryGbFrom, mountWithKeys, numeric } from "@lattice/wire";
import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, collectPair } from "../../parse/collect.ts";
import { parseCount } from "../../parse/count.ts";
import { parseProbe } from "../../parse/probe.ts";

export interface SubmitFlags {
  readonly nodes?: string;
  readonly walltime?: string;
  readonly name?: string;
  readonly cpus?: number;
  readonly gpus?: Readonly<Record<string, unknown>>;
  readonly gpuType?: string;
  readonly mem?: number;
  readonly constraint?: readonly string[];
  readonly topology?: string;
  readonly tasksPerNode?: string;
  readonly preemptionClass?: string;
  readonly class?: string;
  readonly priority?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly project?: string;
  readonly intent?: string;
  readonly telemetry?: string;
  readonly requeue?: boolean;
  readonly requeuePolicy?: string;
  readonly maxRequeue?: string;
  readonly service?: boolean;
  readonly uenv?: string;
  readonly view?: string;
  readonly image?: string;
  readonly toolsUenv?: string;
  readonly readOnly?: boolean;
  readonly signRequired?: boolean;
  readonly memoryPolicy?: string;
  readonly taskGroup?: string;
  readonly outputFile?: string;
  readonly errorFile?: string;
  readonly dependsOn?: readonly string[];
  readonly dataMount?: readonly string[];
  readonly dataCredentials?: string;
  readonly outputTo?: string;
  readonly scratch?: string;
  readonly dataDefaults?: boolean;
  readonly expose?: readonly string[];
  readonly probe?: LivenessProbe;
  readonly networkDomain?: string;
  readonly reactive?: boolean;
  readonly minNodes?: string;
  readonly maxNodes?: string;
  readonly scaleMetric?: string;
  readonly scaleTarget?: string;
  readonly checkpoint?: string;
  readonly checkpointPort?: string;
  readonly checkpointTimeout?: string;
  readonly preempt?: boolean;
  readonly sensitive?: boolean;
}

const MAX_CPUS = 1_000_000;

export type ShortForm = Readonly<Record<string, unknown>>;

/** Flags without meaning for a session: it runs no command, is bounded by its walltime and writes no output. */
const NOT_FOR_SESSIONS = new Set([
  "--task-group",
  "--output-file",
  "--error-file",
  "--service",
  "--reactive",
  "--min-nodes",
  "--max-nodes",
  "--scale-metric",
  "--scale-target",
  "--checkpoint",
  "--checkpoint-port",
  "--checkpoint-timeout",
]);

export function addSessionFlags(command: Command): Command {
  return addFlags(command, ({ long }) => !NOT_FOR_SESSIONS.has(long ?? ""));
}

export function addSubmitFlags(command: Command): Command {
  return addFlags(command, () => true);
}

function addFlags(command: Command, isTaken: (option: Option) => boolean): Command {
  const options = [
    new Option("-N, --nodes <count>", "number of nodes, or a range such as 2-8"),
    new Option("--walltime <time>", "longest run time: 72h, 90m, HH:MM:SS, D-HH:MM:SS"),
    new Option("--name <name>", "name (default: the script or the command)"),
    new Option("--cpus <count>", "cores on each node").argParser((text) => parseCount(text, 1, MAX_CPUS)),
    new Option("--gpus <count>", "GPUs on each node: 2, or H100:2").argParser(parseGpus),
    new Option("--gpu-type <type>", "type of the GPUs, such as H100"),
    new Option("--mem <size>", "memory on each node, such as 64G or 512M").argParser(parseMemory),
    new Option("--constraint <terms>", "node constraint: gpu_type=GH200, memory_gb>=512, a feature").argParser(collect),
    new Option("--topology <kind>", "topology: any or tight"),
    new Option("--tasks-per-node <count>", "tasks on each node, for launchers"),
    new Option("--preemption-class <class>", "0 (preempted first) to 10 (never)"),
    new Option("--class <class>", "same as --preemption-class").conflicts("preemptionClass"),
    new Option("--priority <word>", "low, normal or high, or a class"),
    new Option("--env <pair>", "variable for the job, K=V (repeatable)").argParser(collectPair),
    new Option("--workdir <dir>", "working directory (default: the current one)"),
    new Option("--tag <pair>", "tag, k=v (repeatable)").argParser(collectPair),
    new Option("--project <name>", "project, for accounting"),
    new Option("--intent <word>", "train, serve, interactive or batch; selects a vCluster if none is named"),
    new Option("--telemetry <mode>", "telemetry mode: prod, debug or audit"),
    new Option("--requeue", "requeue after a node failure"),
    new Option("--no-requeue", "never requeue"),
    new Option("--requeue-policy <policy>", "when to requeue")
      .choices(["never", "on_node_failure", "always"])
      .conflicts("requeue"),
    new Option("--max-requeue <count>", "maximum number of requeues"),
    new Option("--task-group <range>", "one element per index: 0-99, 0-99:2, 1,3,5-7, 0-99%20 (at most 20 at a time)"),
    new Option("--output-file <path>", "also write the output to this file on the node; expands %j %A %a %x %N %u"),
    new Option("--error-file <path>", "with --output-file: separate file for standard error"),
    new Option("--depends-on <edges>", "dependencies: 12345:success, name:mutex (repeatable)").argParser(collect),
    new Option("--service", "run without a time limit"),
    new Option("--no-preempt", "never preempt it"),
    new Option("--uenv <images>", "software images to mount: name/version:tag[:/mount], separated by commas"),
    new Option("--view <names>", "views of the images, applied in this order"),
    new Option("--tools-uenv <image>", "tools image to mount in addition"),
    new Option("--image <image>", "container image, instead of a uenv"),
    new Option("--read-only", "mount the root file system of the container read-only"),
    new Option("--sign-required", "only signed images"),
    new Option("--data-mount <mount>", "SOURCE:TARGET[:ro|rw], source a path, nfs:// or s3:// (repeatable)").argParser(
      collect,
    ),
    new Option(
      "--data-credentials <file>",
      "file on the node with credentials of s3:// mounts (default: ~/.passwd-s3fs)",
    ),
    new Option("--output-to <place>", "destination of output data: a path, or s3://bucket/prefix"),
    new Option("--scratch <size>", "free scratch space required on each node, such as 500GB"),
    new Option("--data-defaults", "require the home, scratch, output and checkpoint directories"),
    new Option("--memory-policy <policy>", "NUMA policy: local, interleave, preferred or bind"),
    new Option("--probe <probe>", "liveness probe: tcp:8080, http:8080/path[,period=5,...]").argParser(parseProbe),
    new Option("--expose <port>", "port of a service: 8080, name:8080, name:8080/http (repeatable)").argParser(collect),
    new Option("--network-domain <name>", "network shared with other allocations of the tenant"),
    new Option("--reactive", "a service that scales with a metric"),
    new Option("--min-nodes <count>", "with --reactive: minimum number of nodes"),
    new Option("--max-nodes <count>", "with --reactive: maximum number of nodes"),
    new Option("--scale-metric <name>", "with --reactive: metric to scale by"),
    new Option("--scale-target <value>", "with --reactive: target of the metric, such as 100, 80% or 250ms"),
    new Option("--checkpoint <strategy>", "signal, shmem, grpc or dmtcp; auto, manual or none"),
    new Option("--checkpoint-port <port>", "with --checkpoint=grpc: port of the program"),
    new Option("--checkpoint-timeout <seconds>", "time limit of a checkpoint (default: 600)"),
  ];
  // Accepted but hidden: the server rejects it with an explanation.
  const unsupported = [new Option("--sensitive", "dedicated nodes, audited")];
  for (const option of options.filter(isTaken)) command.addOption(option);
  for (const option of unsupported) command.addOption(option.hideHelp());
  return command;
}

/** Returns only the fields whose flags were given, so that directives and server defaults apply to the rest. */
export function flagsToShortForm(flags: SubmitFlags, source: (flag: string) => boolean): ShortForm {
  const { priority } = flags;
  const isClass = priority !== undefined && /^\d+$/.test(priority);
  const form: Record<string, unknown> = {
    nodes: flags.nodes,
    walltime: flags.walltime,
    name: flags.name,
    cpu_cores: flags.cpus,
    ...flags.gpus,
    ...(flags.gpuType === undefined ? {} : { gpu_type: flags.gpuType }),
    memory_gb: flags.mem,
    constraint: flags.constraint,
    topology: flags.topology,
    tasks_per_node: numberIn(flags.tasksPerNode),
    preemption_class: numberIn(flags.preemptionClass ?? flags.class) ?? (isClass ? Number(priority) : undefined),
    priority: isClass ? undefined : priority,
    env: flags.env,
    workdir: flags.workdir,
    tags: flags.tag,
    project: flags.project,
    intent: flags.intent,
    telemetry: flags.telemetry,
    requeue: source("requeue") ? flags.requeue : undefined,
    requeue_policy: flags.requeuePolicy,
    max_requeue: numberIn(flags.maxRequeue),
    service: flags.service,
    uenv: flags.uenv,
    view: flags.view,
    image: flags.image,
    tools_uenv: flags.toolsUenv,
    read_only: flags.readOnly,
    sign_required: flags.signRequired,
    memory_policy: flags.memoryPolicy,
    task_group: flags.taskGroup,
    output_file: flags.outputFile,
    error_file: flags.errorFile,
    depends_on: flags.dependsOn,
    mounts: flags.dataMount?.map((text) => mountWithKeys(text, flags.dataCredentials)),
    output_to: flags.outputTo,
    scratch_per_node: flags.scratch,
    data_defaults: flags.dataDefaults,
    expose: flags.expose?.map(exposedOf),
    liveness_probe: flags.probe,
    network_domain: flags.networkDomain,
    reactive: flags.reactive,
    scale_policy: scalePolicy(flags),
    checkpoint: checkpointOf({
      strategy: flags.checkpoint,
      port: flags.checkpointPort,
      timeout: flags.checkpointTimeout,
    }),
    no_preempt: source("preempt") && flags.preempt === false ? true : undefined,
    sensitive: flags.sensitive,
  };
  return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== undefined));
}

const numberIn = (text: string | undefined): number | string | undefined =>
  text === undefined ? undefined : numeric(text);

function scalePolicy({ minNodes, maxNodes, scaleMetric, scaleTarget }: SubmitFlags): ShortForm | undefined {
  const policy = { min: numberIn(minNodes), max: numberIn(maxNodes), metric: scaleMetric, target: scaleTarget };
  const given = Object.entries(policy).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Returns GiB. */
const parseMemory = (text: string): number => checked(memoryGbFrom(text));

/** Returns constraints. */
const parseGpus = (text: string): Readonly<Record<string, unknown>> => checked(gpusFrom(text));

function checked<T extends object | number>(value: T | string): T {
  if (typeof value === "string") throw new InvalidArgumentError(`${value}.`);
  return value;
}
