// Running work is stopped for an allocation that waits: all named victims in one move, or none. Who can is
// asked for a checkpoint first, all of them at once. Any other goes back to the queue with its old submission
// time, uncounted among its requeues, or fails where its policy is never to be requeued. The nodes are remembered with the one they were freed for, so that
// a new leader knows as well. Everything is checked again: the decision may be old.

import type { Allocation } from "../allocation/allocation.ts";
import { fail, requeue } from "../allocation/failure.ts";
import { type Noted, withNote } from "../allocation/keep-past.ts";
import { isPlaced, type PendingPhase, type PlacedPhase } from "../allocation/phase.ts";
import { beginCheckpoint, turnToSuspend } from "../checkpoint/ask.ts";
import type { PreemptCommand } from "../command.ts";
import { invariant, present } from "../invariant.ts";
import type { Outcome, Refusal, RefusalCode } from "../outcome.ts";
import { shedNode } from "../scaling/shed.ts";
import { accepted, quote, rejected, type Step } from "../step.ts";
import { policyOf } from "../vcluster/policy.ts";
import { claimingClass, type PreemptionReason, reasonFor, shieldOf } from "./shield.ts";

export function preemptFor(step: Step, command: PreemptCommand): Outcome {
  const { state } = step;
  const winner = state.allocation(command.allocation);
  if (winner === undefined) return no("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const refusal = againstWinner(step, command, winner) ?? againstNodes(step, command);
  if (refusal !== null) return rejected(refusal);
  const victims: Victim[] = [];
  for (const named of command.victims) {
    const victim = victimOf(step, winner, named, command.nodes);
    if ("code" in victim) return rejected(victim);
    victims.push(victim);
  }

  for (const victim of victims) if (!handBack(step, victim, command)) stop(step, winner, victim);
  const awaits = { nodes: command.nodes, since: step.at };
  const told = withNote(winner, noteOf(victims, command), step);
  state.putAllocation({ ...told, phase: { ...pendingOf(winner), awaits } });
  return accepted(winner.id);
}

/** Named in the winner's stream; the others are counted. */
const NAMED_VICTIMS = 8;

function noteOf(victims: readonly Victim[], { nodes }: PreemptCommand): Noted {
  const named = victims.slice(0, NAMED_VICTIMS).map(({ record }) => record.id);
  const more = victims.length > named.length ? ` and ${victims.length - named.length} more` : "";
  const who = `${victims.length === 1 ? "Allocation" : "Allocations"} ${named.join(", ")}${more}`;
  const held = nodes.length === 1 ? "1 node is held for it" : `${nodes.length} nodes are held for it`;
  const text = `${who} ${victims.length === 1 ? "makes" : "make"} room for it; ${held}.`;
  return { type: "preemption", kind: "others_stopped", text, nodes };
}

interface Victim {
  readonly record: Allocation;
  readonly phase: PlacedPhase;
  readonly reason: PreemptionReason;
  /** Without a checkpoint. */
  readonly force: boolean;
}

function pendingOf({ id, phase }: Allocation): PendingPhase {
  invariant(phase.kind === "pending", `${id} does not wait`);
  return phase;
}

function againstWinner(step: Step, { basis, victims }: PreemptCommand, winner: Allocation): Refusal | null {
  const { id, phase, pendingSinceIndex, spec } = winner;
  if (basis >= step.index) return say("stale_plan", `it is based on entry ${basis}, which it cannot have seen`);
  if (phase.kind !== "pending") return say("stale_plan", `allocation ${id} is ${phase.kind}`);
  if (phase.heldUntil !== undefined) return say("stale_plan", `allocation ${id} is held back`);
  if (winner.hold !== undefined) return say("stale_plan", `allocation ${id} is held by ${winner.hold.by}`);
  if (winner.unmet !== undefined) return say("stale_plan", `allocation ${id} waits for what it depends on`);
  if (basis < pendingSinceIndex)
    return say("stale_plan", `allocation ${id} is pending since entry ${pendingSinceIndex}`);
  const vcluster = step.state.vcluster(spec.vcluster);
  const policy = vcluster === undefined ? null : policyOf(vcluster);
  if (policy?.preempts !== true) return say("illegal_transition", `vCluster "${spec.vcluster}" stops nobody`);
  const distinct = new Set(victims.map((victim) => victim.allocation)).size === victims.length;
  if (distinct && victims.length >= 1 && victims.length <= policy.maxVictims) return null;
  return say("illegal_transition", `between 1 and ${policy.maxVictims} allocations are stopped for another`);
}

function againstNodes(step: Step, { nodes }: PreemptCommand): Refusal | null {
  if (new Set(nodes).size !== nodes.length) return say("illegal_transition", "a node is named twice");
  const unknown = nodes.find((id) => step.state.node(id) === undefined);
  return unknown === undefined ? null : say("node_unavailable", `there is no node ${quote(unknown)}`);
}

function victimOf(
  step: Step,
  winner: Allocation,
  named: PreemptCommand["victims"][number],
  nodes: PreemptCommand["nodes"],
): Victim | Refusal {
  const record = step.state.allocation(named.allocation);
  if (record === undefined) return say("unknown_allocation", `there is no allocation ${quote(named.allocation)}`);
  const { id, phase, attempt, spec } = record;
  if (attempt !== named.attempt) return say("stale_plan", `allocation ${id} is at attempt ${attempt}`);
  if (!isPlaced(phase)) return say("stale_plan", `allocation ${id} is ${phase.kind} and holds no nodes`);
  if (phase.kind === "checkpointing" && phase.request.next === "suspend") {
    return say("stale_plan", `allocation ${id} is being checkpointed for its nodes`);
  }
  const shield = shieldOf(step.state, record);
  if (shield !== null) return say("illegal_transition", shield);
  const own = claimingClass(step.state, winner);
  if (spec.lifecycle.preemptionClass >= own) {
    const classes = `class ${spec.lifecycle.preemptionClass} is not below class ${own}`;
    return say("illegal_transition", `allocation ${id} is not stopped for ${winner.id}: ${classes}`);
  }
  if (!phase.nodes.some((node) => nodes.includes(node))) {
    return say("stale_plan", `allocation ${id} holds none of the nodes that are needed`);
  }
  return { record, phase, reason: reasonFor(step.state, winner, record), force: named.force === true };
}

/** A service that scales gives back what it has borrowed, and goes on with the rest. False: it cannot. */
function handBack(step: Step, { record, phase, reason }: Victim, { nodes }: PreemptCommand): boolean {
  const { lifecycle, resources } = record.spec;
  const asked = phase.nodes.filter((node) => nodes.includes(node));
  const left = phase.nodes.length - asked.length;
  if (reason !== "reclaim" || lifecycle.kind !== "reactive" || left < resources.minNodes) return false;
  let now = record;
  for (const node of asked) {
    const lost = { node, reason: "reclaim", detail: "asked back by the vCluster that lent it", gone: false } as const;
    if (!isPlaced(now.phase) || !shedNode(step, now, now.phase, lost)) return now !== record;
    now = present(step.state.allocation(record.id), `allocation ${record.id} is gone`);
  }
  return true;
}

function stop(step: Step, winner: Allocation, { record, phase, reason, force }: Victim): void {
  const message = `stopped for allocation ${winner.id} of class ${claimingClass(step.state, winner)} (${reason})`;
  const grace = reason === "reclaim" ? returnGrace(step, winner) : {};
  if (record.spec.checkpoint !== undefined && !force && phase.kind !== "staging") {
    const wanted = { cause: "preempted", next: "suspend", for: winner.id, message, ...grace } as const;
    if (phase.kind === "checkpointing") turnToSuspend(step, record, phase, wanted);
    else beginCheckpoint(step, record, phase, wanted);
    return;
  }
  if (record.spec.lifecycle.requeuePolicy === "never") {
    fail(step, record, phase, { reason: "preempted", exitCode: null, message, gone: null, ...grace });
    return;
  }
  requeue(step, record, phase, { cause: "preempted", gone: null, message, ...grace });
}

/** As the lender has set it. */
function returnGrace(step: Step, { spec }: Allocation) {
  const vcluster = step.state.vcluster(spec.vcluster);
  const lending = vcluster === undefined ? null : policyOf(vcluster).lending;
  return lending === null ? {} : { grace: lending.returnGrace };
}

const say = (code: RefusalCode, detail: string): Refusal => ({ code, detail });
const no = (code: RefusalCode, detail: string): Outcome => rejected(say(code, detail));
