// The table of top-level fields of a submission, in full and in short form, with their place in the full form. Nested
// parts of the full form accept the same short forms.

import { isObject, type Json, type JsonObject, kindOf } from "../json/value.ts";
import { putConstraint, putConstraints } from "./constraints.ts";
import type { Draft } from "./draft.ts";
import { putNodeCount } from "./node-count.ts";
import { at, duration, group, hours, type PutField, type PutFields, priority, word } from "./put.ts";
import { putTaskGroup } from "./task-group.ts";

const constraint =
  (name: string): PutField =>
  (draft, item, from) =>
    putConstraint(draft, { name, item, from });

const putWalltime = duration("lifecycle.walltime_seconds");
const putHours = hours("lifecycle.walltime_seconds");
const putPriority = priority("lifecycle.preemption_class");

const putRequeue: PutField = (draft, value, from) => {
  const policy = value === true ? "on_node_failure" : value === false ? "never" : value;
  draft.put("lifecycle.requeue_policy", policy, from);
};

/** Handles `service: true` and `reactive: true`; false has no effect. */
const kind =
  (type: string): PutField =>
  (draft, value, from) => {
    if (value === true) draft.put("lifecycle.type", type, from);
    else if (value !== false) draft.problems.add(from, `must be true or false, not ${kindOf(value)}`);
  };

const LIFECYCLE: PutFields = {
  walltime: putWalltime,
  walltime_hours: putHours,
  priority: putPriority,
  requeue: putRequeue,
};

export const FIELDS: ReadonlyMap<string, PutField> = new Map<string, PutField>([
  // Full form.
  ["tenant", at("tenant")],
  ["project", at("project")],
  ["vcluster", at("vcluster")],
  ["name", at("name")],
  ["tags", at("tags")],
  ["intent", at("intent")],
  ["environment", group("environment", { env: at("environment.variables") })],
  ["entrypoint", at("entrypoint")],
  ["command", at("command")],
  ["script", at("script")],
  ["resources", group("resources", { nodes: putNodeCount, constraints: putConstraints })],
  ["lifecycle", group("lifecycle", LIFECYCLE)],
  ["data", group("data", {})],
  ["connectivity", group("connectivity", {})],
  ["depends_on", putDependencies],
  ["task_group", putTaskGroup],
  ["checkpoint", word("checkpoint.strategy", group("checkpoint", {}))],
  ["telemetry", word("telemetry.mode", group("telemetry", {}))],
  ["liveness_probe", at("liveness_probe")],
  ["sensitive", at("sensitive")],
  ["slurm_env", at("slurm_env")],
  ["output", word("output.file", group("output", {}))],
  // Short form.
  ["output_file", at("output.file")],
  ["error_file", at("output.error_file")],
  ["nodes", putNodeCount],
  ["tasks_per_node", at("resources.tasks_per_node")],
  ["exclusive", at("resources.exclusive")],
  ["tasks", at("resources.task_request.tasks")],
  ["cpus_per_task", at("resources.task_request.cpus_per_task")],
  ["memory_gb_per_cpu", at("resources.task_request.memory_gb_per_cpu")],
  ["total_gpus", at("resources.task_request.gpus")],
  ["overcommit", at("resources.task_request.overcommit")],
  ["constraints", putConstraints],
  ["constraint", putConstraints],
  ["features", constraint("features")],
  ["topology", constraint("topology")],
  ["gpu_type", constraint("gpu_type")],
  ["gpu_count", constraint("gpu_count")],
  ["memory_gb", constraint("memory_gb")],
  ["cpu_cores", constraint("cpu_cores")],
  ["memory_policy", constraint("memory_policy")],
  ["required_nodes", constraint("required_nodes")],
  ["excluded_nodes", constraint("excluded_nodes")],
  ["walltime", putWalltime],
  ["walltime_hours", putHours],
  ["walltime_seconds", at("lifecycle.walltime_seconds")],
  ["type", at("lifecycle.type")],
  ["service", kind("unbounded")],
  ["reactive", kind("reactive")],
  ["scale_policy", at("lifecycle.scale_policy")],
  ["preemption_class", at("lifecycle.preemption_class")],
  ["priority", putPriority],
  ["requeue", putRequeue],
  ["requeue_policy", at("lifecycle.requeue_policy")],
  ["max_requeue", at("lifecycle.max_requeue")],
  ["no_preempt", at("lifecycle.no_preempt")],
  ["env", at("environment.variables")],
  ["variables", at("environment.variables")],
  ["workdir", at("environment.workdir")],
  ["uenv", at("environment.uenv")],
  ["view", at("environment.view")],
  ["image", at("environment.image")],
  ["tools_uenv", at("environment.tools_uenv")],
  ["read_only", at("environment.read_only")],
  ["sign_required", at("environment.sign_required")],
  ["mounts", at("data.mounts")],
  ["output_to", at("data.output")],
  ["scratch_per_node", at("data.scratch_per_node")],
  ["data_defaults", at("data.defaults")],
  ["network_domain", at("connectivity.network_domain")],
  ["expose", at("connectivity.expose")],
]);

/** Fields of submissions that this version does not support. */
export const UNOFFERED_FIELDS: readonly string[] = ["dag", "allocations"];

const DEFAULT_CONDITION = "success";
const HINT = 'Write {"ref": "12345", "condition": "success"}.';

function putDependencies(draft: Draft, value: Json, from: string): void {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const edges = items.flatMap((item) => edgesOf(item) ?? []);
  if (items.some((item) => edgesOf(item) === null)) draft.problems.add(from, "is not a list of dependencies", HINT);
  if (edges.length > 0) draft.put("depends_on", edges, from);
}

function edgesOf(item: Json): JsonObject[] | null {
  if (typeof item === "string" || typeof item === "number") return `${item}`.split(",").map(edgeOfText);
  if (!isObject(item)) return null;
  if ("ref" in item) return [item];
  return Object.entries(item).map(([ref, condition]) => ({ ref, condition }));
}

function edgeOfText(text: string): JsonObject {
  const at = text.lastIndexOf(":");
  if (at < 0) return { ref: text.trim(), condition: DEFAULT_CONDITION };
  return { ref: text.slice(0, at).trim(), condition: text.slice(at + 1).trim() };
}
