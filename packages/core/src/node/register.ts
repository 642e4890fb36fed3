// An agent presents its node. A new node is ready at once; a known one has its description
// brought up to date. Claims are left alone even after a reboot: the agent's own reports tell what
// became of each attempt.

import { isCount, isText, problemList } from "../allocation/check-values.ts";
import { MAX_FEATURE_LENGTH, MAX_PER_NODE } from "../allocation/limits.ts";
import { canonical } from "../canonical.ts";
import type { RegisterNodeCommand } from "../command.ts";
import { parseNodeId } from "../ids.ts";
import type { FieldProblem, Outcome } from "../outcome.ts";
import { accepted, quote, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { checkTopology } from "./check-topology.ts";
import { drainDrifted, withDrift } from "./drift.ts";
import { bringBack } from "./heal.ts";
import { moveNode, nodeChanged } from "./move.ts";
import type { Node } from "./node.ts";

/** A node may offer more features than one allocation may ask for. */
export const MAX_NODE_FEATURES = 1024;

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

  const described: Node = driftOf(step, { ...known, ...descriptionOf(command), homeVCluster }, known);
  const comesBack = known.state.kind === "down" && known.state.cause === "silent";
  const comesUp = known.state.kind === "unknown" || known.state.kind === "booting";
  const same = canonical(described) === canonical(known);
  if (same && !comesBack && !comesUp) return unchanged(known.id);

  state.putNode(described);
  if (described.state.kind === "down" && comesBack) bringBack(step, described, described.state);
  else if (comesUp) moveNode(step, described, { kind: "ready", since: step.at });
  else step.events.push(nodeChanged(described, described.state.kind, whyChanged(known, described)));
  drainDrifted(step, known, step.state.node(known.id) ?? described);
  return accepted(known.id);
}

/** A fingerprint that was known and is another now is what operators look for. */
const whyChanged = (known: Node, described: Node): string =>
  known.conformance !== "" && known.conformance !== described.conformance ? "conformance_changed" : "registered";

/** Servers before know no such field. */
const driftOf = (step: Step, now: Node, before: Node): Node => (step.version < 2 ? now : withDrift(step, now, before));

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
