// Whether a specification is acceptable by itself, before anything is known about tenants, vClusters or nodes. Every
// problem names the path of its field in the contract. `wire` may check early to answer faster; `submit` always checks,
// because replicas trust no caller.

import type { FieldProblem } from "../../base/outcome.ts";
import { CHECKPOINT_MODES, type CheckpointSpec, MAX_CHECKPOINT_SPAN } from "../checkpoint/spec.ts";
import { isCount, isText, type Problems, problemList } from "../checks.ts";
import { checkConstraints } from "./check-constraints.ts";
import { checkData } from "./check-data.ts";
import { checkService } from "./check-service.ts";
import { checkMounts, checkSoftware } from "./check-software.ts";
import { DEPENDENCY_CONDITIONS, type Dependency, MAX_DEPENDENCIES, MAX_MUTEX_NAME_LENGTH } from "./dependency.ts";
import * as limit from "./limits.ts";
import { MAX_NODES, MAX_OUTPUT_PATH_LENGTH, MAX_PORT } from "./limits.ts";
import { METRIC_FORM, parseMetric } from "./metric.ts";
import {
  type AllocationSpec,
  type Environment,
  type Lifecycle,
  type Resources,
  type ScalePolicy,
  type Task,
  TELEMETRY_MODES,
} from "./spec.ts";

export function checkSpec(spec: AllocationSpec): FieldProblem[] {
  const problems = problemList();
  checkTexts(problems, spec);
  checkTags(problems, "allocation.tags", spec.tags);
  checkTask(problems, spec.task);
  checkEnvironment(problems, spec.environment);
  checkResources(problems, spec.resources);
  checkConstraints(problems, spec.resources);
  checkSoftware(problems, spec.environment);
  checkMounts(problems, spec.mounts ?? []);
  checkData(problems, spec.data ?? {});
  checkLifecycle(problems, spec.lifecycle);
  checkDependencies(problems, spec.dependsOn ?? []);
  checkService(problems, spec);
  const mode = spec.telemetry?.mode ?? "prod";
  const modes = TELEMETRY_MODES.join(", ");
  problems.unless(TELEMETRY_MODES.includes(mode), "allocation.telemetry.mode", `must be one of ${modes}`);
  checkOutput(problems, spec);
  checkScaling(problems, spec);
  checkCheckpoint(problems, spec.checkpoint, spec.lifecycle.kind !== "bounded");
  return problems.list;
}

export function checkName(problems: Problems, field: string, name: string): void {
  problems.unless(isText(name, limit.MAX_NAME_LENGTH), field, `must have at most ${limit.MAX_NAME_LENGTH} characters`);
}

export function checkTags(problems: Problems, field: string, tags: Readonly<Record<string, string>>): void {
  const entries = Object.entries(tags);
  problems.unless(entries.length <= limit.MAX_TAGS, field, `must not have more than ${limit.MAX_TAGS} tags`);
  for (const [key, value] of entries.slice(0, limit.MAX_TAGS)) {
    const good = key !== "" && isText(key, limit.MAX_TAG_KEY_LENGTH) && isText(value, limit.MAX_TAG_VALUE_LENGTH);
    const rule = `a key has 1 to ${limit.MAX_TAG_KEY_LENGTH} characters, a value at most ${limit.MAX_TAG_VALUE_LENGTH}`;
    problems.unless(good, field, `${rule}, none of them NUL`);
  }
}

export function checkWalltime(problems: Problems, field: string, walltime: number): void {
  const good = isCount(walltime, 1, limit.MAX_WALLTIME_MS);
  problems.unless(good, field, "must be more than zero and at most ten years");
}

export function checkPreemptionClass(problems: Problems, field: string, preemptionClass: number): void {
  const good = isCount(preemptionClass, 0, limit.MAX_PREEMPTION_CLASS);
  problems.unless(good, field, `must be a whole number from 0 to ${limit.MAX_PREEMPTION_CLASS}`);
}

function checkTexts(problems: Problems, spec: AllocationSpec): void {
  problems.unless(spec.tenant !== "", "allocation.tenant", "must not be empty");
  problems.unless(spec.vcluster !== "", "allocation.vcluster", "must not be empty");
  checkName(problems, "allocation.name", spec.name);
  const project = isText(spec.project, limit.MAX_PROJECT_LENGTH);
  problems.unless(project, "allocation.project", `must have at most ${limit.MAX_PROJECT_LENGTH} characters`);
  const intent = isText(spec.intent, limit.MAX_INTENT_LENGTH);
  problems.unless(intent, "allocation.intent", `must have at most ${limit.MAX_INTENT_LENGTH} characters`);
}

function checkTask(problems: Problems, task: Task): void {
  switch (task.kind) {
    case "entrypoint":
      problems.unless(task.line.trim() !== "", "allocation.entrypoint", "must not be empty");
      problems.text("allocation.entrypoint", task.line, limit.MAX_ENTRYPOINT_LENGTH);
      return;
    case "script":
      problems.unless(task.text.trim() !== "", "allocation.script", "must not be empty");
      problems.text("allocation.script", task.text, limit.MAX_SCRIPT_LENGTH);
      return;
    case "command":
      checkWords(problems, task.words);
  }
}

function checkWords(problems: Problems, words: readonly string[]): void {
  const field = "allocation.command";
  problems.unless(words.length > 0 && words[0] !== "", field, "must begin with the program to run");
  problems.unless(words.length <= limit.MAX_WORDS, field, `must not have more than ${limit.MAX_WORDS} words`);
  let length = 0;
  for (const word of words.slice(0, limit.MAX_WORDS)) {
    problems.text(field, word, limit.MAX_WORD_LENGTH);
    length += word.length;
  }
  const most = limit.MAX_ENVIRONMENT_LENGTH;
  problems.unless(length <= most, field, `must not have more than ${most} characters in all`);
}

function checkEnvironment(problems: Problems, environment: Environment): void {
  const field = "allocation.environment.variables";
  const variables = Object.entries(environment.variables);
  problems.unless(variables.length <= limit.MAX_VARIABLES, field, `must not have more than ${limit.MAX_VARIABLES}`);
  let length = 0;
  for (const [name, value] of variables.slice(0, limit.MAX_VARIABLES)) {
    const named = name !== "" && !name.includes("=") && isText(name, limit.MAX_VARIABLE_NAME_LENGTH);
    problems.unless(named, field, `a name has 1 to ${limit.MAX_VARIABLE_NAME_LENGTH} characters, without = and NUL`);
    problems.text(field, value, limit.MAX_WORD_LENGTH);
    length += name.length + value.length;
  }
  const most = limit.MAX_ENVIRONMENT_LENGTH;
  problems.unless(length <= most, field, `must not have more than ${most} characters in all`);
  const { workdir } = environment;
  problems.unless(workdir === "" || workdir.startsWith("/"), "allocation.environment.workdir", "must be absolute");
  problems.text("allocation.environment.workdir", workdir, limit.MAX_PATH_LENGTH);
}

function checkResources(problems: Problems, resources: Resources): void {
  const { minNodes, maxNodes, tasksPerNode } = resources;
  const range = `must be a whole number from 1 to ${limit.MAX_NODES}`;
  problems.unless(isCount(minNodes, 1, limit.MAX_NODES), "allocation.resources.nodes.min", range);
  problems.unless(isCount(maxNodes, 1, limit.MAX_NODES), "allocation.resources.nodes.max", range);
  const ordered = !(minNodes > maxNodes);
  problems.unless(ordered, "allocation.resources.nodes.min", `must not be above max (${minNodes} > ${maxNodes})`);
  const tasks = isCount(tasksPerNode, 1, limit.MAX_TASKS_PER_NODE);
  const most = limit.MAX_TASKS_PER_NODE;
  problems.unless(tasks, "allocation.resources.tasks_per_node", `must be a whole number from 1 to ${most}`);
}

function checkLifecycle(problems: Problems, lifecycle: Lifecycle): void {
  const { kind, walltime, preemptionClass, maxRequeue } = lifecycle;
  const field = "allocation.lifecycle.walltime_seconds";
  if (kind === "bounded" && walltime === null) problems.add(field, "is missing: bounded work has a walltime");
  if (kind !== "bounded" && walltime !== null) problems.add(field, "must be absent: a service has no walltime");
  if (kind === "bounded" && walltime !== null) checkWalltime(problems, field, walltime);
  checkPreemptionClass(problems, "allocation.lifecycle.preemption_class", preemptionClass);
  const requeue = isCount(maxRequeue, 0, limit.MAX_REQUEUE);
  const range = `must be a whole number from 0 to ${limit.MAX_REQUEUE}`;
  problems.unless(requeue, "allocation.lifecycle.max_requeue", range);
}

function checkOutput(problems: Problems, { output, environment }: AllocationSpec): void {
  if (output === undefined) return;
  const field = "allocation.output";
  problems.unless(output.file !== "", `${field}.file`, "must be given");
  for (const [name, path] of [["file", output.file] as const, ["error_file", output.errorFile ?? ""] as const]) {
    const good = isText(path, MAX_OUTPUT_PATH_LENGTH) && !/[\r\n]/.test(path);
    problems.unless(good, `${field}.${name}`, `must be one line of at most ${MAX_OUTPUT_PATH_LENGTH} characters`);
    const placed = path === "" || path.startsWith("/") || environment.workdir !== "";
    problems.unless(placed, `${field}.${name}`, "must be an absolute path where no working directory is given");
  }
}

/** `service`: the work is unbounded and its nodes may change. */
function checkCheckpoint(problems: Problems, spec: CheckpointSpec | undefined, service: boolean): void {
  if (spec === undefined) return;
  const { mode, port, timeout, maxDeferral } = spec;
  const field = "allocation.checkpoint";
  problems.unless(!service, field, "is for batch work only: a service does not keep its nodes");
  problems.unless(CHECKPOINT_MODES.includes(mode), `${field}.mode`, `must be one of ${CHECKPOINT_MODES.join(", ")}`);
  const listens = port === 0 || (mode === "grpc" && isCount(port, 1, MAX_PORT));
  problems.unless(listens, `${field}.port`, `must be a whole number from 1 to ${MAX_PORT}, and requires mode grpc`);
  const span = (name: string, value: number, least: number): void =>
    problems.unless(isCount(value, least, MAX_CHECKPOINT_SPAN), `${field}.${name}`, "must be at most a day");
  span("timeout_seconds", timeout, 1);
  span("max_deferral_seconds", maxDeferral, 0);
}

function checkDependencies(problems: Problems, edges: readonly Dependency[]): void {
  const most = `must not have more than ${MAX_DEPENDENCIES} entries`;
  problems.unless(edges.length <= MAX_DEPENDENCIES, "allocation.depends_on", most);
  const names = new Set<string>();
  for (const [n, { ref, condition }] of edges.slice(0, MAX_DEPENDENCIES).entries()) {
    const field = `allocation.depends_on[${n}]`;
    const known = (DEPENDENCY_CONDITIONS as readonly string[]).includes(condition);
    problems.unless(known, `${field}.condition`, `must be one of ${DEPENDENCY_CONDITIONS.join(", ")}`);
    problems.unless(ref !== "", `${field}.ref`, "must be given");
    const length = `must have at most ${MAX_MUTEX_NAME_LENGTH} characters, none of them NUL`;
    problems.unless(isText(ref, MAX_MUTEX_NAME_LENGTH), `${field}.ref`, length);
    if (condition !== "mutex") continue;
    problems.unless(!names.has(ref), `${field}.ref`, "names the same mutex twice");
    names.add(ref);
  }
}

const MAX_METRIC_LENGTH = 512;
const MAX_TARGET_MILLI = 1_000_000_000_000;
/** A week: with longer times a service would never scale. */
const MAX_SPAN_MS = 7 * 24 * 3600 * 1000;
/** Metrics do not change more often. */
const MIN_INTERVAL_MS = 1_000;

function checkScaling(problems: Problems, { lifecycle, resources }: AllocationSpec): void {
  const field = "allocation.lifecycle.scale_policy";
  const { kind, scale } = lifecycle;
  if (kind !== "reactive") {
    problems.unless(scale === undefined, field, "goes with a reactive lifecycle only");
    return;
  }
  if (scale === undefined) {
    problems.add(field, "is missing: a reactive service needs a scaling policy");
    return;
  }
  checkPolicy(problems, field, scale);
  // A service starts with its minimum.
  const begins = resources.minNodes === scale.minNodes && resources.maxNodes === scale.minNodes;
  problems.unless(begins, "allocation.resources.nodes", "must be absent: scale_policy sets the number of nodes");
}

function checkPolicy(problems: Problems, field: string, scale: ScalePolicy): void {
  const range = `must be a whole number from 1 to ${MAX_NODES}`;
  problems.unless(isCount(scale.minNodes, 1, MAX_NODES), `${field}.min`, range);
  problems.unless(isCount(scale.maxNodes, 1, MAX_NODES), `${field}.max`, range);
  const ordered = scale.minNodes <= scale.maxNodes;
  problems.unless(ordered, `${field}.min`, `must not be above max (${scale.minNodes} > ${scale.maxNodes})`);
  const named = scale.metric.trim() !== "" && isText(scale.metric, MAX_METRIC_LENGTH);
  problems.unless(named, `${field}.metric`, `must have 1 to ${MAX_METRIC_LENGTH} characters`);
  if (named) problems.unless(parseMetric(scale.metric) !== null, `${field}.metric`, METRIC_FORM);
  problems.unless(isCount(scale.targetMilli, 1, MAX_TARGET_MILLI), `${field}.target`, "must be a number above 0");
  const share = isCount(scale.downThresholdMilli, 1, 999);
  problems.unless(share, `${field}.scale_down_threshold`, "must be above 0 and below 1");
  const span = (name: string, ms: number, least: number): void =>
    problems.unless(isCount(ms, least, MAX_SPAN_MS), `${field}.${name}`, "must be from a second to a week");
  span("evaluation_interval_seconds", scale.evaluationInterval, MIN_INTERVAL_MS);
  span("scale_up_window_seconds", scale.upWindow, 0);
  span("scale_down_window_seconds", scale.downWindow, 0);
  span("cooldown_seconds", scale.cooldown, 0);
}
