// The fields a submission may have at its top level, in full and in short form, and what each puts
// where in the full form. Nested parts of the full form take the same conveniences.

import { isObject, type Json, kindOf } from "../json/value.ts";
import { own } from "../text/own.ts";
import { putConstraint, putConstraints } from "./constraints.ts";
import { putDependencies } from "./dependencies.ts";
import { type Draft, isFieldName } from "./draft.ts";
import { putNodeCount } from "./node-count.ts";
import { putTaskGroup } from "./task-group.ts";
import { hoursToSeconds, parseWalltime } from "./walltime.ts";

/** `from` is the user's name for the field. */
export type PutField = (draft: Draft, value: Json, from: string) => void;

/** Words for `priority`; 5 is the default class. */
export const PRIORITY_CLASSES: Readonly<Record<string, number>> = { low: 2, normal: 5, high: 8 };

const at =
  (path: string): PutField =>
  (draft, value, from) =>
    draft.put(path, value, from);

const constraint =
  (name: string): PutField =>
  (draft, item, from) =>
    putConstraint(draft, { name, item, from });

const putWalltime: PutField = (draft, value, from) => {
  if (typeof value !== "string") {
    draft.problems.add(from, `must be a string, not ${kindOf(value)}`, 'Write "72h", or use walltime_seconds.');
    return;
  }
  const seconds = draft.attempt(() => parseWalltime(value, from));
  if (seconds !== undefined) draft.put("lifecycle.walltime_seconds", seconds, from);
};

const putHours: PutField = (draft, value, from) => {
  if (typeof value !== "number") {
    draft.problems.add(from, `must be a number, not ${kindOf(value)}`);
    return;
  }
  const seconds = draft.attempt(() => hoursToSeconds(value, from));
  if (seconds !== undefined) draft.put("lifecycle.walltime_seconds", seconds, from);
};

const putPriority: PutField = (draft, value, from) => {
  const found = typeof value === "string" ? own(PRIORITY_CLASSES, value.toLowerCase()) : undefined;
  if (found !== undefined) draft.put("lifecycle.preemption_class", found, from);
  else draft.problems.add(from, "must be low, normal or high", "Use preemption_class for a number from 0 to 10.");
};

const putRequeue: PutField = (draft, value, from) => {
  const policy = value === true ? "on_node_failure" : value === false ? "never" : value;
  draft.put("lifecycle.requeue_policy", policy, from);
};

/** `service: true` and `reactive: true`; false says nothing. */
const kind =
  (type: string): PutField =>
  (draft, value, from) => {
    if (value === true) draft.put("lifecycle.type", type, from);
    else if (value !== false) draft.problems.add(from, `must be true or false, not ${kindOf(value)}`);
  };

/** A word instead of an object with one field. */
const word =
  (path: string, field: string): PutField =>
  (draft, value, from) => {
    if (typeof value === "string") draft.put(`${path}.${field}`, value, from);
    else group(path, {})(draft, value, from);
  };

/** A part of the full form; its own fields are put one by one, so that conflicts are found. */
function group(path: string, special: Readonly<Record<string, PutField>>): PutField {
  return (draft, value, from) => {
    if (!isObject(value)) {
      draft.problems.add(from, `must be an object, not ${kindOf(value)}`);
      return;
    }
    for (const [name, item] of Object.entries(value)) {
      if (item === null) continue;
      if (!isFieldName(name)) {
        draft.problems.add(`${from}.${name}`, "is not a known field");
        continue;
      }
      const put = own(special, name) ?? at(`${path}.${name}`);
      put(draft, item, `${from}.${name}`);
    }
  };
}

const LIFECYCLE: Readonly<Record<string, PutField>> = {
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
  ["checkpoint", word("checkpoint", "strategy")],
  ["telemetry", word("telemetry", "mode")],
  ["liveness_probe", at("liveness_probe")],
  ["sensitive", at("sensitive")],
  ["slurm_env", at("slurm_env")],
  ["output", word("output", "file")],
  // Short form.
  ["output_file", at("output.file")],
  ["error_file", at("output.error_file")],
  ["nodes", putNodeCount],
  ["tasks_per_node", at("resources.tasks_per_node")],
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

/** Asked for by whole submissions of a kind that this version does not take. */
export const UNOFFERED_FIELDS: readonly string[] = ["dag", "allocations"];
