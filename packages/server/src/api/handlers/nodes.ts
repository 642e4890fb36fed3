// Lists and shows nodes, and takes them out of service and back.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type Command,
  type Node,
  type NodeHealthCommand,
  type NodeId,
  type NodeStateKind,
  parseNodeId,
  parseVClusterId,
} from "@lattice/core";
import { nodeStateFromProto, nodeToProto, ProblemError, pb } from "@lattice/wire";
import { checkText, invalid, unknownNode, unknownVCluster } from "../../base/problems.ts";
import { authorize, type Target, UNOWNED } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { MAX_REASON_LENGTH } from "../limits/limits.ts";
import { refuseWithoutStorage } from "./checkpoints.ts";
import { commit, originOf } from "./commit.ts";
import { pageOf } from "./page.ts";
import { isOfTenant } from "./visible.ts";

export async function listNodes(call: Call, request: pb.ListNodesRequest): Promise<pb.ListNodesResponse> {
  authorize(call.principal, "NodeService.ListNodes", UNOWNED);
  const states = new Set(request.state.map(stateOf));
  const view = call.plane.view();
  const page = pageOf(view.nodes(), request, (node) => {
    if (states.size > 0 && !states.has(node.state.kind)) return false;
    // A node without a home vCluster serves every vCluster.
    if (request.vcluster !== "" && node.homeVCluster !== null && node.homeVCluster !== request.vcluster) return false;
    if (request.tenant !== "" && !isOf(call, node, request.tenant)) return false;
    return request.group === "" || node.group === request.group;
  });
  return create(pb.ListNodesResponseSchema, {
    nodes: page.shown.map((node) => shown(call, node)),
    nextPageToken: page.next,
    total: page.total,
    logIndex: String(view.index),
  });
}

export async function getNode(call: Call, request: pb.GetNodeRequest): Promise<pb.Node> {
  authorize(call.principal, "NodeService.GetNode", UNOWNED);
  return shown(call, find(call, request.id));
}

/** Asks the agent of the node. */
export async function getNodeCondition(call: Call, request: pb.GetNodeConditionRequest): Promise<pb.NodeCondition> {
  authorize(call.principal, "NodeService.GetNodeCondition", UNOWNED);
  const { id } = find(call, request.id);
  const { error, condition } = await call.plane.askImages(id, { case: "condition", value: request }, call.signal);
  if (condition !== undefined) return create(pb.NodeConditionSchema, { ...condition, node: id });
  throw new ProblemError("node_unreachable", {
    detail: `The agent of node ${id} does not report its condition${error === "" ? "" : `: ${error}`}.`,
  });
}

export async function drainNode(call: Call, request: pb.DrainNodeRequest): Promise<pb.NodeResponse> {
  const node = find(call, request.id);
  authorize(call.principal, "NodeService.DrainNode", homeOf(call, node));
  checkText("reason", request.reason, MAX_REASON_LENGTH);
  const origin = originOf(call, pb.DrainNodeRequestSchema, request);
  const urgent = request.urgent ? { urgent: true } : {};
  if (request.urgent) await Promise.all(runningOn(call, node).map((record) => refuseWithoutStorage(call, record)));
  return change(call, node.id, { kind: "node.drain", origin, node: node.id, reason: request.reason, ...urgent });
}

const runningOn = ({ plane }: Call, { claims }: Node): readonly Allocation[] =>
  claims.flatMap(({ allocation, releasing }) => (releasing ? [] : (plane.view().allocation(allocation) ?? [])));

export async function undrainNode(call: Call, request: pb.NodeActionRequest): Promise<pb.NodeResponse> {
  const node = find(call, request.id);
  authorize(call.principal, "NodeService.UndrainNode", homeOf(call, node));
  const origin = originOf(call, pb.NodeActionRequestSchema, request);
  return change(call, node.id, { kind: "node.undrain", origin, node: node.id });
}

export async function disableNode(call: Call, request: pb.DisableNodeRequest): Promise<pb.NodeResponse> {
  const node = find(call, request.id);
  authorize(call.principal, "NodeService.DisableNode", homeOf(call, node));
  checkText("reason", request.reason, MAX_REASON_LENGTH);
  const origin = originOf(call, pb.DisableNodeRequestSchema, request);
  return change(call, node.id, { kind: "node.disable", origin, node: node.id, reason: request.reason });
}

export async function enableNode(call: Call, request: pb.NodeActionRequest): Promise<pb.NodeResponse> {
  const node = find(call, request.id);
  authorize(call.principal, "NodeService.EnableNode", homeOf(call, node));
  const origin = originOf(call, pb.NodeActionRequestSchema, request);
  return change(call, node.id, { kind: "node.enable", origin, node: node.id });
}

export async function assignNode(call: Call, request: pb.AssignNodeRequest): Promise<pb.NodeResponse> {
  const node = find(call, request.id);
  authorize(call.principal, "NodeService.AssignNode", homeOf(call, node));
  const vcluster = request.vcluster === "" ? null : parseVClusterId(request.vcluster);
  if (request.vcluster !== "" && vcluster === null) throw unknownVCluster(request.vcluster);
  const origin = originOf(call, pb.AssignNodeRequestSchema, request);
  return change(call, node.id, { kind: "node.assign", origin, node: node.id, vcluster });
}

/** A report of external monitoring: `critical` takes the node down at once, `ok` brings it back. */
export async function reportHealth(call: Call, request: pb.ReportHealthRequest): Promise<pb.NodeResponse> {
  const node = find(call, request.id);
  authorize(call.principal, "NodeService.ReportHealth", homeOf(call, node));
  checkText("component", request.component, MAX_COMPONENT_LENGTH);
  checkText("message", request.message, MAX_REASON_LENGTH);
  const reason = [request.component, request.message].filter((text) => text !== "").join(": ");
  const verdict = HEALTH.get(request.status);
  if (verdict === undefined)
    throw invalid("status", "is not a state of health", "The states are ok, warning and critical.");
  return change(call, node.id, { kind: "node.health", node: node.id, verdict, reason });
}

const MAX_COMPONENT_LENGTH = 64;

const HEALTH: ReadonlyMap<string, NodeHealthCommand["verdict"]> = new Map([
  ["critical", "hardware"],
  ["warning", "warning"],
  ["ok", "repaired"],
]);

async function change(call: Call, id: NodeId, command: Command): Promise<pb.NodeResponse> {
  const { index } = await commit(call, command);
  return create(pb.NodeResponseSchema, { node: shown(call, find(call, id)), logIndex: String(index) });
}

function find(call: Call, id: string): Node {
  const parsed = parseNodeId(id);
  const node = parsed === null ? undefined : call.plane.view().node(parsed);
  if (node === undefined) throw unknownNode(id);
  return node;
}

/** A tenant's administrator reaches the nodes whose home vCluster is that tenant's. */
function homeOf(call: Call, node: Node): Target {
  const home = node.homeVCluster === null ? undefined : call.plane.view().vcluster(node.homeVCluster);
  return { tenant: home?.tenant ?? null, user: null };
}

const isOf = (call: Call, node: Node, tenant: string): boolean =>
  homeOf(call, node).tenant === tenant ||
  node.claims.some((claim) => claim.tenant === tenant && isOfTenant(call, claim.tenant));

/** Claims are public, but not the tenants that hold them. */
function shown(call: Call, node: Node): pb.Node {
  const message = nodeToProto(node, call.plane.liveness(node.id));
  message.homeTenant = homeOf(call, node).tenant ?? "";
  for (const [n, { tenant }] of node.claims.entries()) {
    const claim = message.claims[n];
    if (claim !== undefined && !isOfTenant(call, tenant)) [claim.allocationId, claim.tenant] = ["", ""];
  }
  return message;
}

function stateOf(state: pb.NodeState): NodeStateKind {
  const kind = nodeStateFromProto(state);
  if (kind === null) throw invalid("state", `${state} is not a state`);
  return kind;
}
