// node.register: an agent registers its node. A new node is ready at once; the description of a known node is updated.
// Claims stay even after a reboot: the agent reports the outcome of each attempt itself.

import { canonical } from "../../base/canonical.ts";
import { type GroupId, type NodeId, parseNodeId, SYSTEM_USER, type VClusterId } from "../../base/ids.ts";
import {
  accepted,
  type FieldProblem,
  type Outcome,
  quote,
  refuse,
  refuseFields,
  unchanged,
} from "../../base/outcome.ts";
import { isCount, isText, problemList } from "../../model/checks.ts";
import { checkTopology } from "../../model/node/check-topology.ts";
import type { Capabilities, Node } from "../../model/node/node.ts";
import { noticeKey } from "../../model/notice/notice.ts";
import { MAX_FEATURE_LENGTH, MAX_PER_NODE } from "../../model/spec/limits.ts";
import { isSensitiveHome } from "../../queries/sensitive.ts";
import { appendAudit } from "../../transitions/audit/append.ts";
import { moveNode, nodeChanged } from "../../transitions/claims/move-node.ts";
import { returnToService } from "../../transitions/node/return-to-service.ts";
import { clearNotice, raiseNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

export interface RegisterNodeCommand {
  readonly kind: "node.register";
  readonly node: NodeId;
  readonly capabilities: Capabilities;
  readonly group: GroupId;
  readonly conformance: string;
  readonly homeVCluster: VClusterId | null;
  readonly address: string;
  readonly agentVersion: string;
  readonly bootId: string;
}

/** A node may have more features than an allocation may request. */
const MAX_NODE_FEATURES = 1024;

export function registerNode(step: Step, command: RegisterNodeCommand): Outcome {
  const { state } = step;
  const problems = checkRegistration(command);
  if (problems.length > 0) return refuseFields(problems);
  const known = state.node(command.node);
  const homeVCluster = known?.homeAssigned === true ? known.homeVCluster : command.homeVCluster;
  if (homeVCluster !== null && state.vcluster(homeVCluster) === undefined) {
    return refuse("unknown_vcluster", `there is no vCluster ${quote(homeVCluster)}`);
  }
  if (known === undefined) return addNode(step, command);

  const described: Node = withDrift(step, { ...known, ...descriptionOf(command), homeVCluster }, known);
  const comesBack = known.state.kind === "down" && known.state.cause === "silent";
  const comesUp = known.state.kind === "unknown" || known.state.kind === "booting";
  const same = canonical(described) === canonical(known);
  if (same && !comesBack && !comesUp) return unchanged(known.id);

  state.putNode(described);
  if (described.state.kind === "down" && comesBack) returnToService(step, described, described.state);
  else if (comesUp) moveNode(step, described, { kind: "ready", since: step.at });
  else step.events.push(nodeChanged(described, described.state.kind, whyChanged(known, described)));
  drainDrifted(step, known, step.state.node(known.id) ?? described);
  return accepted(known.id);
}

/** A changed fingerprint has its own event, because operators search for it. */
const whyChanged = (known: Node, described: Node): string =>
  known.conformance !== "" && known.conformance !== described.conformance ? "conformance_changed" : "registered";

function addNode(step: Step, command: RegisterNodeCommand): Outcome {
  const fresh: Node = {
    id: command.node,
    state: { kind: "unknown", since: step.at },
    ...descriptionOf(command),
    registeredAt: step.at,
    claims: [],
  };
  moveNode(step, fresh, { kind: "ready", since: step.at });
  return accepted(fresh.id);
}

const descriptionOf = (command: RegisterNodeCommand) => ({
  capabilities: command.capabilities,
  group: command.group,
  conformance: command.conformance,
  homeVCluster: command.homeVCluster,
  address: command.address,
  agentVersion: command.agentVersion,
  bootId: command.bootId,
});

function checkRegistration({ node, capabilities }: RegisterNodeCommand): readonly FieldProblem[] {
  const { cpuCores, gpuCount, memoryBytes, features } = capabilities;
  const problems = problemList();
  problems.unless(parseNodeId(node) !== null, "node", "is not a node id");
  const range = `must be a whole number from 0 to ${MAX_PER_NODE}`;
  problems.unless(isCount(cpuCores, 0, MAX_PER_NODE), "capabilities.cpu_cores", range);
  problems.unless(isCount(gpuCount, 0, MAX_PER_NODE), "capabilities.gpu_count", range);
  const memory = isCount(memoryBytes, 0, Number.MAX_SAFE_INTEGER);
  problems.unless(memory, "capabilities.memory_bytes", "must be a whole number of bytes");
  const { cxlMemoryBytes = 0, powerWatts = 0 } = capabilities;
  const expanders = isCount(cxlMemoryBytes, 0, Number.MAX_SAFE_INTEGER);
  problems.unless(expanders, "capabilities.cxl_memory_bytes", "must be a whole number of bytes");
  const power = isCount(powerWatts, 0, MAX_PER_NODE);
  problems.unless(power, "capabilities.power_watts", `must be a whole number from 0 to ${MAX_PER_NODE}`);
  checkTopology(problems, capabilities);
  const listed = features.length <= MAX_NODE_FEATURES && features.every((f) => isText(f, MAX_FEATURE_LENGTH));
  const rule = `at most ${MAX_NODE_FEATURES}, each of at most ${MAX_FEATURE_LENGTH} characters`;
  problems.unless(listed, "capabilities.features", rule);
  return problems.list;
}

// A node whose configuration changed. It stays in service, the scheduler prefers it less because it matches fewer other
// nodes, and administrators get a notice. It has not drifted when most nodes of its group have the same configuration:
// then that is the intended one. A drifted node of a sensitive vCluster is also drained until an operator has checked it,
// and the audit log records every change of its configuration.

/** Returns the record with its drift after a registration. */
function withDrift(step: Step, now: Node, before: Node): Node {
  const { drift, ...plain } = now;
  const expected = drift?.expected ?? before.conformance;
  const same = now.conformance === expected || expected === "" || now.conformance === "";
  if (same || isUsual(step, now)) return settled(step, now, plain);
  if (drift !== undefined) return now;
  raiseNotice(step, {
    key: noticeKey("node_drifted", now.id),
    kind: "node_drifted",
    text: `node "${now.id}" has drifted: expected ${expected}, actual ${now.conformance}`,
    tenant: null,
    user: null,
    node: now.id,
  });
  audit(step, now, `expected ${expected}, actual ${now.conformance}`);
  return { ...plain, drift: { expected, since: step.at } };
}

/** Drains a node whose configuration may be wrong; running work ends by itself. */
function drainDrifted(step: Step, before: Node, node: Node): void {
  const { kind } = node.state;
  if (before.drift !== undefined || node.drift === undefined || !isSensitiveHome(step.state, node)) return;
  if (kind !== "ready" && kind !== "degraded") return;
  const reason = `conformance_drift: expected=${node.drift.expected}, actual=${node.conformance}`;
  const draining = moveNode(step, node, { kind: "draining", since: step.at, reason });
  if (draining.claims.length === 0) moveNode(step, draining, { kind: "drained", since: step.at, reason });
}

function audit(step: Step, node: Node, detail: string): void {
  if (!isSensitiveHome(step.state, node)) return;
  appendAudit(step, SYSTEM_USER, "node.drift", { scope: "sensitive", node: node.id, detail });
}

function settled(step: Step, now: Node, plain: Node): Node {
  if (now.drift === undefined) return now;
  clearNotice(step, noticeKey("node_drifted", now.id));
  audit(step, now, `as expected again: ${now.conformance}`);
  return plain;
}

function isUsual(step: Step, { id, group, conformance }: Node): boolean {
  let all = 0;
  let alike = 1;
  for (const other of step.state.nodes()) {
    if (other.group !== group) continue;
    all += 1;
    if (other.id !== id && other.conformance === conformance) alike += 1;
  }
  return all > 1 && alike * 2 > all;
}
