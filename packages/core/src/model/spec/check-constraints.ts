// Checks the hard constraints of a spec: ranges, and the lists of required and excluded nodes. The nodes need not
// exist; they may join later.

import type { NodeId } from "../../base/ids.ts";
import { parseNodeId } from "../../base/ids.ts";
import { isCount, isText, type Problems } from "../checks.ts";
import * as limit from "./limits.ts";
import type { Resources } from "./spec.ts";

const PATH = "allocation.resources.constraints";

export function checkConstraints(problems: Problems, { constraints, maxNodes }: Resources): void {
  const { gpuType, gpuCount, memoryBytes, cpuCores, features, requiredNodes, excludedNodes } = constraints;
  problems.text(`${PATH}.gpu_type`, gpuType, limit.MAX_GPU_TYPE_LENGTH);
  const perNode = `must be a whole number from 0 to ${limit.MAX_PER_NODE}`;
  problems.unless(isCount(gpuCount, 0, limit.MAX_PER_NODE), `${PATH}.gpu_count`, perNode);
  problems.unless(isCount(cpuCores, 0, limit.MAX_PER_NODE), `${PATH}.cpu_cores`, perNode);
  const memory = isCount(memoryBytes, 0, Number.MAX_SAFE_INTEGER);
  problems.unless(memory, `${PATH}.memory_gb`, "must not be negative or beyond any machine");

  const { maxGroups = 1 } = constraints;
  const span = `must be a whole number from 1 to ${limit.MAX_NODES}`;
  problems.unless(isCount(maxGroups, 1, limit.MAX_NODES), `${PATH}.max_groups`, span);

  const { storageMBps = 1 } = constraints;
  const rate = `must be a whole number from 1 to ${limit.MAX_STORAGE_MBPS}`;
  problems.unless(isCount(storageMBps, 1, limit.MAX_STORAGE_MBPS), `${PATH}.storage_mb_per_second`, rate);

  problems.unless(features.length <= limit.MAX_FEATURES, `${PATH}.features`, `at most ${limit.MAX_FEATURES}`);
  const named = features.every((feature) => feature !== "" && isText(feature, limit.MAX_FEATURE_LENGTH));
  problems.unless(named, `${PATH}.features`, `a feature has 1 to ${limit.MAX_FEATURE_LENGTH} characters`);

  const { memoryPolicy } = constraints;
  const policy = memoryPolicy === undefined || ["local", "interleave", "preferred", "bind"].includes(memoryPolicy);
  problems.unless(policy, `${PATH}.memory_policy`, "must be local, interleave, preferred or bind");
  checkNodeList(problems, `${PATH}.required_nodes`, requiredNodes);
  checkNodeList(problems, `${PATH}.excluded_nodes`, excludedNodes);
  const required = new Set(requiredNodes);
  const both = excludedNodes.find((node) => required.has(node));
  problems.unless(both === undefined, `${PATH}.excluded_nodes`, "names a node that is also required");
  const fits = required.size <= maxNodes;
  problems.unless(
    fits,
    `${PATH}.required_nodes`,
    `names ${required.size} nodes where at most ${maxNodes} are requested`,
  );
}

function checkNodeList(problems: Problems, field: string, nodes: readonly NodeId[]): void {
  const most = limit.MAX_NAMED_NODES;
  problems.unless(nodes.length <= most, field, `must not name more than ${most} nodes`);
  const good = nodes.slice(0, most).every((node) => parseNodeId(node) !== null);
  problems.unless(good, field, "holds something that is not a node id");
  problems.unless(new Set(nodes).size === nodes.length, field, "names a node twice");
}
