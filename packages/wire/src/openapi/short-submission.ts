// JSON Schema of the short form of a submission: flat fields, `72h`, counts and ranges. A test compares its properties
// with what `normalise` accepts.

import type { Json, JsonObject } from "../json/value.ts";
import { refTo } from "./schemas.ts";

const text: JsonObject = { type: "string" };
const flag: JsonObject = { type: "boolean" };
const count: JsonObject = { type: "integer", minimum: 0 };
const texts: JsonObject = { type: "array", items: text };
const pairs: JsonObject = { type: "object", additionalProperties: text };
const either = (...anyOf: JsonObject[]): JsonObject => ({ anyOf });
const says = (schema: JsonObject, description: string): JsonObject => ({ ...schema, description });

const constraints = either(refTo("Constraints"), says(text, "For example gpu_type=GH200,gpu_count=4."), texts);

export const SHORT_SUBMISSION: JsonObject = {
  type: "object",
  title: "ShortSubmission",
  description: "The fields of one allocation side by side, without the outer `allocation`.",
  additionalProperties: false,
  properties: {
    request_id: says(text, "Makes the call safe to repeat for 24 hours."),
    tenant: text,
    project: text,
    vcluster: text,
    name: text,
    tags: pairs,
    intent: text,
    entrypoint: says(text, "A command line, run by /bin/sh -c."),
    command: says(texts, "Words, run as they are."),
    script: says(text, "A whole script, run by its own interpreter line."),
    nodes: either(
      says({ type: "integer", minimum: 1 }, "An exact count."),
      says(text, 'A count or a range such as "2-4".'),
      refTo("NodeCount"),
    ),
    tasks_per_node: count,
    exclusive: { type: "boolean" },
    tasks: says(count, "Tasks that are packed onto the cores of nodes; the server finds the nodes."),
    cpus_per_task: count,
    memory_gb_per_cpu: { type: "number" },
    total_gpus: count,
    overcommit: { type: "boolean" },
    constraints,
    constraint: constraints,
    features: either(texts, text),
    topology: refTo("Topology"),
    gpu_type: text,
    gpu_count: count,
    memory_gb: says({ type: "number", minimum: 0 }, "GiB (2^30 bytes) per node, at least."),
    cpu_cores: count,
    memory_policy: { type: "string", enum: ["local", "interleave", "preferred", "bind"] },
    required_nodes: texts,
    excluded_nodes: texts,
    walltime: says(text, "72h, 90m, 1h30m, HH:MM:SS or D-HH:MM:SS."),
    walltime_hours: { type: "number", exclusiveMinimum: 0 },
    walltime_seconds: count,
    type: refTo("LifecycleType"),
    service: says(flag, "Runs until it is cancelled."),
    reactive: flag,
    scale_policy: refTo("ScalePolicy"),
    preemption_class: { type: "integer", minimum: 0, maximum: 10 },
    priority: { type: "string", enum: ["low", "normal", "high"] },
    requeue: either(flag, refTo("RequeuePolicy")),
    requeue_policy: refTo("RequeuePolicy"),
    max_requeue: { type: "integer", minimum: 0, maximum: 100 },
    no_preempt: says(flag, "It is never stopped for others."),
    env: pairs,
    variables: pairs,
    workdir: text,
    uenv: text,
    view: text,
    image: text,
    tools_uenv: text,
    read_only: says(flag, "Mounts the root file system of the container read-only."),
    sign_required: says(flag, "Every image must carry a signature that the node trusts."),
    mounts: { type: "array", items: refTo("Mount") },
    output_to: says(text, "Where output goes: a path that every node sees, or s3://."),
    scratch_per_node: says(text, "Scratch that must be free on each node, such as 500GB."),
    data_defaults: says(flag, "Home, scratch, output and checkpoint folders must be there."),
    network_domain: text,
    expose: { type: "array", items: refTo("ExposedPort") },
    environment: refTo("Environment"),
    resources: refTo("Resources"),
    lifecycle: refTo("Lifecycle"),
    data: refTo("Data"),
    connectivity: refTo("Connectivity"),
    depends_on: either({ type: "array", items: either(refTo("Dependency"), pairs, text) }, text),
    task_group: either(refTo("TaskGroup"), says(text, 'For example "0-99:2%20" or "1,3,5-7".')),
    checkpoint: either(text, refTo("Checkpoint")),
    telemetry: either(text, refTo("Telemetry")),
    liveness_probe: refTo("LivenessProbe"),
    sensitive: flag,
    output: either(text, refTo("OutputFiles")),
    output_file: says(text, "Written as well, on the node; %j and its like are filled in."),
    error_file: says(text, "Instead of the same file, for standard error."),
    slurm_env: says(flag, "Set SLURM_* variables as well."),
  } satisfies Record<string, Json>,
};
