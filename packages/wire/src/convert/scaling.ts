// Converts the scaling of a reactive service in both directions: the policy with its defaults, and its current state.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  attemptAt,
  duration,
  isPlaced,
  mostNodes,
  type Resources,
  type ScalePolicy,
  seconds,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { LifecycleType, ScalePolicySchema, ScalingStatusSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import type { FieldList } from "../errors/field-list.ts";
import { timestampFromMs } from "../json/timestamp.ts";

/** Defaults: seconds, and a fraction of the target. */
const DEFAULTS = { interval: 60, up: 120, down: 300, threshold: 0.5, cooldown: 180 };
const FIELD = "allocation.lifecycle.scale_policy";

/** Returns undefined for other allocations. The core reports missing fields. */
export function scaleFromProto(lifecycle: proto.Lifecycle | undefined, problems: FieldList): ScalePolicy | undefined {
  const policy = lifecycle?.scalePolicy;
  if (policy === undefined) return undefined;
  if (lifecycle?.type !== LifecycleType.REACTIVE) problems.add(FIELD, "goes with a reactive lifecycle only");
  return policyFromProto(policy, FIELD, problems);
}

export function policyFromProto(policy: proto.ScalePolicy, field: string, problems: FieldList): ScalePolicy {
  const targetMilli = parseTarget(policy.target);
  if (targetMilli === null) {
    const hint = 'Write a number, a percentage such as "80%", or a duration such as "250ms".';
    problems.add(`${field}.target`, "is not a target", hint);
  }
  const min = policy.min || 1;
  return {
    minNodes: min,
    maxNodes: policy.max || min,
    metric: policy.metric,
    targetMilli: targetMilli ?? 1,
    evaluationInterval: seconds(policy.evaluationIntervalSeconds || DEFAULTS.interval),
    upWindow: seconds(policy.scaleUpWindowSeconds || DEFAULTS.up),
    downWindow: seconds(policy.scaleDownWindowSeconds || DEFAULTS.down),
    downThresholdMilli: Math.round((policy.scaleDownThreshold || DEFAULTS.threshold) * 1000),
    cooldown: duration((policy.cooldownSeconds || DEFAULTS.cooldown) * 1000),
  };
}

const TARGET = /^(\d{1,12}(?:\.\d{1,6})?)\s*(%|ms|s|m|h)?$/;
/** Converts to the unit of metrics: a percentage to a fraction, a duration to seconds. */
const UNITS: Readonly<Record<string, number>> = { "": 1, "%": 0.01, ms: 0.001, s: 1, m: 60, h: 3_600 };

/** Returns thousandths, or null for text that is no target. */
function parseTarget(text: string): number | null {
  const match = TARGET.exec(text.trim());
  if (match === null) return null;
  return Math.round(Number(match[1]) * (UNITS[match[2] ?? ""] ?? 1) * 1000);
}

/** A scaling service starts with its minimum, so a separate number of nodes would be ambiguous. */
export function sizedBy(
  scale: ScalePolicy | undefined,
  resources: Resources,
  asked: proto.Resources | undefined,
  problems: FieldList,
): Resources {
  if (scale === undefined) return resources;
  const { minNodes } = scale;
  const same = asked?.nodes === undefined || (resources.minNodes === minNodes && resources.maxNodes === minNodes);
  if (!same) problems.add("allocation.resources.nodes", "is set by scale_policy", "Leave the number of nodes out.");
  return { ...resources, minNodes, maxNodes: minNodes };
}

export const scaleToProto = (scale: ScalePolicy): proto.ScalePolicy =>
  create(ScalePolicySchema, {
    min: scale.minNodes,
    max: scale.maxNodes,
    metric: scale.metric,
    target: String(scale.targetMilli / 1000),
    evaluationIntervalSeconds: scale.evaluationInterval / 1000,
    scaleUpWindowSeconds: scale.upWindow / 1000,
    scaleDownWindowSeconds: scale.downWindow / 1000,
    scaleDownThreshold: scale.downThresholdMilli / 1000,
    cooldownSeconds: scale.cooldown / 1000,
  });

/** Returns `null` for an allocation that neither scales nor is being updated. */
export function scalingStatus(record: Allocation): proto.ScalingStatus | null {
  const { spec, phase, scaling, renewal } = record;
  const { scale } = spec.lifecycle;
  const outdated = isPlaced(phase) && renewal !== undefined ? outdatedCount(record, renewal.through) : 0;
  if (scale === undefined && outdated === 0) return null;
  return create(ScalingStatusSchema, {
    min: spec.resources.minNodes,
    max: mostNodes(record),
    nodes: isPlaced(phase) ? phase.nodes.length : 0,
    metric: scale?.metric ?? "",
    target: scale === undefined ? "" : String(scale.targetMilli / 1000),
    outdatedNodes: outdated,
    ...(scaling === undefined ? {} : { lastScaledAt: timestampFromMs(scaling.at) }),
  });
}

function outdatedCount(record: Allocation, through: number): number {
  const { phase } = record;
  if (!isPlaced(phase)) return 0;
  return phase.nodes.filter((_, i) => attemptAt(record, phase, i) <= through).length;
}
