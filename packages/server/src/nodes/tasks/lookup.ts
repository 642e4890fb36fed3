// Lookups and refusals of launches: the allocation and the caller of a launch, and the ticket that its nodes keep. Reads
// the view, changes nothing.

import { create } from "@bufbuild/protobuf";
import { type Allocation, isPlaced, parseAllocationId, parseNodeId, type View } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { FabricCredentials } from "../fabric/credentials.ts";
import type { LaunchFailure } from "./outcome.ts";
import type { LaunchPlan } from "./request.ts";

export const cxiOf = (credentials: FabricCredentials | null): { cxi?: pb.CxiCredentials } =>
  credentials === null ? {} : { cxi: create(pb.CxiCredentialsSchema, credentials) };

export function ticketOf(
  allocation: Allocation,
  plan: LaunchPlan,
  call: number | null,
  credentials: FabricCredentials | null,
): pb.LaunchTicket {
  return create(pb.LaunchTicketSchema, {
    allocationId: allocation.id,
    attempt: allocation.attempt,
    layout: plan.order.layout,
    ...(call === null ? {} : { call }),
    fabricService: credentials?.serviceId ?? "",
  });
}

/** Returns whether the launch that an agent reports belongs to the allocation as the view has it. */
export function isLaunchOf(
  allocation: Allocation,
  launchId: string,
  nodeId: string,
  { attempt, layout }: pb.LaunchTicket,
): boolean {
  const { phase } = allocation;
  if (!isPlaced(phase) || attempt !== allocation.attempt) return false;
  if (!launchId.startsWith(`${allocation.id}.${attempt}.`)) return false;
  return (
    layout.some(({ node }) => node === nodeId) && layout.every(({ node }) => phase.nodes.some((id) => id === node))
  );
}

export function allocationNamed(view: View, id: string): Allocation {
  const parsed = parseAllocationId(id);
  const found = parsed === null ? undefined : view.allocation(parsed);
  if (found === undefined)
    throw new ProblemError("unknown_allocation", {
      detail: `There is no allocation ${JSON.stringify(id.slice(0, 80))}.`,
    });
  return found;
}

export interface ScriptCaller {
  /** Allocation and attempt. */
  readonly attempt: string;
  readonly node: string;
  readonly isFirst: boolean;
}

/** Returns the node of the job script that calls; `null` for a caller outside the job, or in a job of one node. */
export function callerOf(
  { id, attempt, phase }: Allocation,
  { callerNode, callerAttempt }: pb.LaunchTasksRequest,
): ScriptCaller | null {
  const node = parseNodeId(callerNode);
  if (node === null || !isPlaced(phase) || callerAttempt !== attempt) return null;
  const place = phase.nodes.indexOf(node);
  if (place < 0 || phase.nodes.length === 1) return null;
  return { attempt: `${id}.${attempt}`, node, isFirst: place === 0 };
}

/** Returns why the first node will not launch any more; `null` while it may. */
export function launchObstacle(view: View, { id, attempt }: Allocation): string | null {
  const record = view.allocation(id);
  if (record === undefined || record.attempt !== attempt || !isPlaced(record.phase)) return "the attempt is over";
  const first = record.phase.progress[0]?.state;
  return first === "completed" || first === "failed"
    ? `the script on the first node, ${record.phase.nodes[0] ?? ""}, has ended without this launch`
    : null;
}

export const endResponse = (failure: LaunchFailure | null): pb.LaunchTasksResponse =>
  create(pb.LaunchTasksResponseSchema, {
    event: { case: "end", value: create(pb.LaunchEndSchema, failure ?? { exitCode: 0, reason: "" }) },
  });

export const unknownLaunch = (allocationId: string, launchId: string): ProblemError =>
  new ProblemError("unknown_launch", {
    detail: `Allocation ${allocationId} has no launch "${launchId.slice(0, 80)}".`,
  });

export const notLeader = (): ProblemError =>
  new ProblemError("not_leader", { detail: "This server is no longer the leader." });

export const unreachable = (node: string): ProblemError =>
  new ProblemError("node_unreachable", {
    detail: `The agent of node ${node} is not connected, so no task can be started there.`,
    hint: "Try again when the node is back (lattice nodes shows its state).",
  });
