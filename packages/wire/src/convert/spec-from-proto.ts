// Converts a submission in full form into the core's complete spec: fills in defaults, parses ids and rejects
// unsupported features by name. It checks only what the conversion needs; the core validates the complete spec.

import {
  type AllocationSpec,
  type Duration,
  duration,
  type Environment,
  type Lifecycle,
  parseTenantId,
  parseVClusterId,
  type RequeuePolicy,
  type Resources,
  seconds,
  type Task,
  type VClusterId,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { LifecycleType, RequeuePolicySchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { FieldList } from "../errors/field-list.ts";
import { enumName } from "../json/enum-names.ts";
import { checkpointFromProto } from "./checkpoint.ts";
import { constraintsFromProto } from "./constraints.ts";
import { dataFromProto } from "./data.ts";
import { dependenciesFromProto } from "./dependencies.ts";
import { idOf } from "./id-field.ts";
import { outputFromProto } from "./output-files.ts";
import { scaleFromProto, sizedBy } from "./scaling.ts";
import { serviceFromProto } from "./service.ts";
import { telemetryFromProto } from "./telemetry.ts";

const DEFAULT_PREEMPTION_CLASS = 5;
const DEFAULT_MAX_REQUEUE = 3;
/** Used for a vCluster without a default. */
const DEFAULT_WALLTIME_MS = 3_600_000;

interface SpecDefaults {
  /** Used when the submission names none. */
  readonly tenant: string;
  readonly vcluster: string;
  /** Returns `null` for an unknown vCluster; `apply` rejects it. */
  readonly defaultWalltimeMs: (vcluster: string) => number | null;
}

/** Throws a ProblemError that names every field. */
export function specFromProto(spec: proto.AllocationSpec, defaults: SpecDefaults): AllocationSpec {
  const missing = new FieldList();
  for (const path of unsupportedFields(spec)) missing.add(`allocation.${path}`, "is not supported by this version");
  missing.throwIfAny("unsupported_feature");

  const problems = new FieldList();
  const tenant = idOf(spec.tenant || defaults.tenant, { field: "allocation.tenant", parse: parseTenantId, problems });
  const vcluster = idOf(spec.vcluster || defaults.vcluster, {
    field: "allocation.vcluster",
    parse: parseVClusterId,
    problems,
  });
  const task = taskOf(spec, problems);
  const scale = scaleFromProto(spec.lifecycle, problems);
  const resources = sizedBy(scale, resourcesOf(spec.resources, problems), spec.resources, problems);
  const data = dataFromProto(spec.data, problems);
  const lifecycle = {
    ...lifecycleOf(spec.lifecycle, walltimeFor(vcluster, defaults), problems),
    ...(scale === undefined ? null : { scale }),
  };
  const dependsOn = dependenciesFromProto(spec.dependsOn, problems);
  const service = serviceFromProto(spec, problems);
  const telemetry = telemetryFromProto(spec.telemetry, problems);
  const checkpoint = checkpointFromProto(spec.checkpoint, problems);
  problems.throwIfAny();
  return {
    tenant,
    project: spec.project,
    vcluster,
    name: spec.name,
    tags: spec.tags,
    intent: spec.intent,
    task,
    environment: environmentOf(spec.environment),
    resources,
    lifecycle,
    slurmEnv: spec.slurmEnv,
    ...data,
    ...(dependsOn === undefined ? null : { dependsOn }),
    ...service,
    ...telemetry,
    ...outputFromProto(spec.output),
    ...(checkpoint === undefined ? null : { checkpoint }),
  };
}

/** Omits unset fields, so that records without them keep their hash. */
export function environmentOf(e: proto.Environment | undefined): Environment {
  return {
    variables: e?.variables ?? {},
    workdir: e?.workdir ?? "",
    ...(e?.uenv ? { uenv: e.uenv } : null),
    ...(e?.view ? { view: e.view } : null),
    ...(e?.toolsUenv ? { toolsUenv: e.toolsUenv } : null),
    ...(e?.image ? { image: e.image } : null),
    ...(e?.readOnly ? { readOnly: true } : null),
    ...(e?.signRequired ? { signRequired: true } : null),
  };
}

function taskOf(spec: proto.AllocationSpec, problems: FieldList): Task {
  const given: Task[] = [];
  if (spec.entrypoint !== "") given.push({ kind: "entrypoint", line: spec.entrypoint });
  if (spec.command.length > 0) given.push({ kind: "command", words: spec.command });
  if (spec.script !== "") given.push({ kind: "script", text: spec.script });
  const [task, second] = given;
  if (second !== undefined) {
    problems.add(
      `allocation.${second.kind}`,
      `cannot be combined with ${task?.kind}`,
      "Give one of entrypoint, command and script.",
    );
  }
  if (task !== undefined) return task;
  problems.add("allocation.entrypoint", "must be given", "Give one of entrypoint, command and script.");
  return { kind: "entrypoint", line: "" };
}

function resourcesOf(resources: proto.Resources | undefined, problems: FieldList): Resources {
  const nodes = resources?.nodes;
  const min = nodes === undefined ? 1 : nodes.min === 0 && nodes.max > 0 ? 1 : nodes.min;
  const max = nodes === undefined ? 1 : nodes.max === 0 ? min : nodes.max;
  return {
    minNodes: min,
    maxNodes: max,
    tasksPerNode: resources?.tasksPerNode || 1,
    ...(resources?.exclusive ? { exclusive: true } : null),
    constraints: constraintsFromProto(resources?.constraints, problems),
  };
}

const KINDS: ReadonlyMap<LifecycleType, Lifecycle["kind"]> = new Map([
  [LifecycleType.UNBOUNDED, "unbounded"],
  [LifecycleType.REACTIVE, "reactive"],
]);

function lifecycleOf(l: proto.Lifecycle | undefined, fallback: Duration, problems: FieldList): Lifecycle {
  const kind = KINDS.get(l?.type ?? LifecycleType.BOUNDED) ?? "bounded";
  const walltimeSeconds = l?.walltimeSeconds ?? 0;
  if (kind !== "bounded" && walltimeSeconds > 0) {
    problems.add(
      "allocation.lifecycle.walltime_seconds",
      `does not go with ${kind === "unbounded" ? "an unbounded" : "a reactive"} lifecycle`,
      "Leave the walltime out.",
    );
  }
  const policy = enumName(RequeuePolicySchema, l?.requeuePolicy ?? 0) as RequeuePolicy | undefined;
  return {
    kind,
    walltime: kind !== "bounded" ? null : walltimeSeconds > 0 ? seconds(walltimeSeconds) : fallback,
    preemptionClass: l?.preemptionClass ?? DEFAULT_PREEMPTION_CLASS,
    requeuePolicy: policy ?? (kind === "bounded" ? "on_node_failure" : "always"),
    maxRequeue: l?.maxRequeue ?? DEFAULT_MAX_REQUEUE,
    ...(l?.noPreempt ? { noPreempt: true } : null),
  };
}

const walltimeFor = (vcluster: VClusterId, { defaultWalltimeMs }: SpecDefaults): Duration =>
  duration(defaultWalltimeMs(vcluster) ?? DEFAULT_WALLTIME_MS);

/** Returns the paths of unsupported fields, in the order of the contract. */
function unsupportedFields(spec: proto.AllocationSpec): string[] {
  const asked: readonly (readonly [string, boolean])[] = [["sensitive", spec.sensitive]];
  return asked.filter(([, used]) => used).map(([path]) => path);
}
