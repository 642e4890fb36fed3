// Converts used resources in both directions. A value that was not measured is unset.

import { create } from "@bufbuild/protobuf";
import { type Allocation, type AttemptUsage, USAGE_FIELDS, type UsageField, type UsageValues } from "@lattice/core";
import {
  type AttemptUsage as AttemptUsageMessage,
  AttemptUsageSchema,
  NodeUsageSchema,
  type UsedResources,
  UsedResourcesSchema,
} from "../../gen/lattice/v1/used_resources_pb.ts";

const FIELDS = Object.keys(USAGE_FIELDS) as UsageField[];

/** Drops values that are no amounts. Returns undefined when nothing is left. */
export function usageFromProto(message: UsedResources | undefined): UsageValues | undefined {
  const values: { [Field in UsageField]?: number } = {};
  for (const field of FIELDS) {
    const value = message?.[field];
    if (value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER) values[field] = Math.round(value);
  }
  return Object.keys(values).length === 0 ? undefined : values;
}

export function usageToProto(values: UsageValues): UsedResources {
  const message = create(UsedResourcesSchema);
  for (const field of FIELDS) {
    const value = values[field];
    if (value !== undefined) message[field] = value;
  }
  return message;
}

export const attemptUsagesToProto = ({ usage = [] }: Pick<Allocation, "usage">): AttemptUsageMessage[] =>
  usage.map(attemptUsage);

function attemptUsage({ attempt, nodeCount, peakMemoryNode, nodes, ...total }: AttemptUsage): AttemptUsageMessage {
  return create(AttemptUsageSchema, {
    attempt,
    nodes: nodeCount,
    total: usageToProto(total),
    peakMemoryNode: peakMemoryNode ?? "",
    byNode: nodes.map(({ node, ...used }) => create(NodeUsageSchema, { node, used: usageToProto(used) })),
  });
}
