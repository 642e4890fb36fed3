// node.register: an agent registers its node. A new node is ready at once; the description of a known node is updated.
// Claims stay even after a reboot: the agent reports the outcome of each attempt itself.

import { canonical } from "../../base/canonical.ts";
import type { GroupId, NodeId, VClusterId } from "../../base/ids.ts";
import { parseNodeId } from "../../base/ids.ts";
import type { FieldProblem, Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, unchanged } from "../../base/outcome.ts";
import { isCount, isText, problemList } from "../../model/checks.ts";
import { checkTopology } from "../../model/node/check-topology.ts";
import type { Capabilities, Node } from "../../model/node/node.ts";
import { MAX_FEATURE_LENGTH, MAX_PER_NODE } from "../../model/spec/limits.ts";
import { moveNode, nodeChanged } from "../../transitions/claims/move-node.ts";
import { drainDrifted, withDrift } from "../../transitions/node/drift.ts";
import { returnToService } from "../../transitions/node/return-to-service.ts";
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
