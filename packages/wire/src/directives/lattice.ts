// Parses `#LATTICE` directives and the flags of `lattice submit`: one table of options with the short-form field that
// each sets. An unknown option is refused with the nearest name, because these lines are written for Lattice.

import type { Json, JsonObject } from "../json/value.ts";
import { nearest } from "../text/nearest.ts";
import type { DirectiveProblems } from "./directive-problems.ts";
import type { Option } from "./options.ts";
import { checkpointOf, exposedOf, gpusFrom, memoryGbFrom, mountWithKeys, probeFrom } from "./short-values.ts";

/** Converts the text of an option to a value. */
type Kind =
  | "text"
  | "number"
  | "flag"
  | "unflag"
  | "words"
  | "list"
  | "pairs"
  | "exposed"
  | "probe"
  | "memory"
  | "gpus";

const TEXT = ["name", "tenant", "project", "vcluster", "walltime", "nodes", "entrypoint", "workdir", "intent"] as const;
const PASSED = ["uenv", "view", "image", "tools_uenv", "topology", "priority", "requeue_policy", "checkpoint"] as const;
const WORDS = ["telemetry", "memory_policy", "network_domain", "checkpoint_port", "checkpoint_timeout"] as const;
const SWITCHES = [
  "service",
  "reactive",
  "requeue",
  "sensitive",
  "hold",
  "no_preempt",
  "read_only",
  "sign_required",
] as const;
const NUMBERS = ["walltime_hours", "preemption_class", "max_requeue", "tasks_per_node"] as const;

export const LATTICE_OPTIONS: ReadonlyMap<string, { readonly field: string; readonly kind: Kind }> = new Map([
  ...[...TEXT, ...PASSED, ...WORDS].map((name) => [name, { field: name, kind: "text" as Kind }] as const),
  ...NUMBERS.map((name) => [name, { field: name, kind: "number" as Kind }] as const),
  ...["gpu_count", "memory_gb", "cpu_cores"].map((name) => [name, { field: name, kind: "number" as Kind }] as const),
  ["gpu_type", { field: "gpu_type", kind: "text" }],
  ["cpus", { field: "cpu_cores", kind: "number" }],
  ["gpus", { field: "gpu_count", kind: "gpus" }],
  ["mem", { field: "memory_gb", kind: "memory" }],
  ["job_name", { field: "name", kind: "text" }],
  ["time", { field: "walltime", kind: "text" }],
  ["class", { field: "preemption_class", kind: "number" }],
  ["N", { field: "nodes", kind: "text" }],
  ["t", { field: "tenant", kind: "text" }],
  ...SWITCHES.map((name) => [name, { field: name, kind: "flag" as Kind }] as const),
  ["no_requeue", { field: "requeue", kind: "unflag" }],
  ["min_nodes", { field: "scale_policy.min", kind: "number" }],
  ["max_nodes", { field: "scale_policy.max", kind: "number" }],
  ["scale_metric", { field: "scale_policy.metric", kind: "text" }],
  ["scale_target", { field: "scale_policy.target", kind: "text" }],
  ["expose", { field: "expose", kind: "exposed" }],
  ["probe", { field: "liveness_probe", kind: "probe" }],
  ["data_mount", { field: "data_mount", kind: "list" }],
  ["data_credentials", { field: "data_credentials", kind: "text" }],
  ["constraint", { field: "constraints", kind: "list" }],
  ["constraints", { field: "constraints", kind: "list" }],
  ["features", { field: "features", kind: "words" }],
  ["nodelist", { field: "required_nodes", kind: "words" }],
  ["required_nodes", { field: "required_nodes", kind: "words" }],
  ["exclude", { field: "excluded_nodes", kind: "words" }],
  ["excluded_nodes", { field: "excluded_nodes", kind: "words" }],
  ["depends_on", { field: "depends_on", kind: "words" }],
  ["output_to", { field: "output_to", kind: "text" }],
  ["scratch", { field: "scratch_per_node", kind: "text" }],
  ["data_defaults", { field: "data_defaults", kind: "flag" }],
  ["task_group", { field: "task_group", kind: "text" }],
  ["output_file", { field: "output_file", kind: "text" }],
  ["error_file", { field: "error_file", kind: "text" }],
  ["env", { field: "env", kind: "pairs" }],
  ["tag", { field: "tags", kind: "pairs" }],
  ["tags", { field: "tags", kind: "pairs" }],
]);

const keyOf = (name: string): string => name.replace(/-/g, "_");

export function latticeTakesValue(name: string): boolean {
  const kind = LATTICE_OPTIONS.get(keyOf(name))?.kind;
  return kind !== "flag" && kind !== "unflag";
}

/** Adds errors to `problems`, so that all directives of a script are reported combineOptions. */
export function readLatticeOptions(options: readonly Option[], problems: DirectiveProblems): JsonObject {
  const out: Record<string, Json> = {};
  for (const option of options) {
    const known = LATTICE_OPTIONS.get(keyOf(option.name));
    if (known === undefined) {
      const close = nearest(option.name, LATTICE_OPTIONS.keys());
      const hint = close === null ? undefined : `Did you mean "--${close.replace(/_/g, "-")}"?`;
      problems.invalid(option, "is not a known option", hint);
      continue;
    }
    const wrong = apply(out, known, option);
    if (wrong !== null) problems.invalid(option, wrong);
  }
  return combineOptions(out);
}

/** Combines several options that set parts of one field. */
function combineOptions(fields: Readonly<Record<string, Json>>): JsonObject {
  const { checkpoint, checkpoint_port, checkpoint_timeout, data_mount, data_credentials, ...rest } = fields;
  const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);
  const settings = checkpointOf({
    strategy: text(checkpoint),
    port: text(checkpoint_port),
    timeout: text(checkpoint_timeout),
  });
  const mounts = (data_mount ?? []) as readonly string[];
  const credentials = text(data_credentials);
  return {
    ...rest,
    ...(settings === undefined ? {} : { checkpoint: settings }),
    ...(mounts.length === 0 ? {} : { mounts: mounts.map((mount) => mountWithKeys(mount, credentials)) }),
  };
}

function apply(out: Record<string, Json>, known: { field: string; kind: Kind }, option: Option): string | null {
  const { field, kind } = known;
  const { value } = option;
  if (kind === "flag" || kind === "unflag") {
    if (value !== null && value !== "true" && value !== "false") return "is on or off and takes no other value";
    out[field] = (value !== "false") === (kind === "flag");
    return null;
  }
  if (value === null || value === "") return "needs a value";
  switch (kind) {
    case "text":
      put(out, field, value);
      return null;
    case "number":
      if (!/^-?\d+(\.\d+)?$/.test(value)) return "needs a number";
      put(out, field, Number(value));
      return null;
    case "exposed":
      out[field] = [...listIn(out, field), exposedOf(value)];
      return null;
    case "probe": {
      const probe = probeFrom(value);
      if (typeof probe === "string") return `is no probe: ${probe}`;
      out[field] = probe;
      return null;
    }
    case "memory": {
      const gb = memoryGbFrom(value);
      if (typeof gb === "string") return gb;
      out[field] = gb;
      return null;
    }
    case "gpus": {
      const gpus = gpusFrom(value);
      if (typeof gpus === "string") return gpus;
      Object.assign(out, gpus);
      return null;
    }
    case "words":
      out[field] = [...listIn(out, field), ...value.split(",").filter((word) => word !== "")];
      return null;
    case "list":
      out[field] = [...listIn(out, field), value];
      return null;
    case "pairs": {
      const at = value.indexOf("=");
      if (at < 1) return "needs NAME=VALUE";
      const before = (out[field] ?? {}) as JsonObject;
      out[field] = { ...before, [value.slice(0, at)]: value.slice(at + 1) };
      return null;
    }
  }
}

/** `scale_policy.min` lies in `scale_policy`. */
function put(out: Record<string, Json>, field: string, value: Json): void {
  const [outer = field, inner] = field.split(".");
  out[outer] = inner === undefined ? value : { ...((out[outer] ?? {}) as JsonObject), [inner]: value };
}

const listIn = (out: JsonObject, field: string): readonly Json[] => (out[field] ?? []) as readonly Json[];
