// allocation.preempt: stops running work for a pending allocation: all victims in one command, or none. Victims with
// checkpoint support are checkpointed first, all at once. Other victims return to the queue with their submission time,
// not counted as a requeue, or fail where their policy forbids a requeue. The freed nodes are recorded with the
// preemptor, so that a new leader knows them. Everything is rechecked, because the decision may be old.

import type { AllocationId, Attempt, LogIndex, NodeId } from "../../base/ids.ts";
import { invariant, present } from "../../base/invariant.ts";
import type { Outcome, Refusal, RefusalCode } from "../../base/outcome.ts";
import { accepted, quote, rejected } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { isPlaced, type PendingPhase, type PlacedPhase } from "../../model/allocation/phase.ts";
import { type NewNote, withNote } from "../../model/allocation/record-past.ts";
import { policyOf } from "../../model/vcluster/policy.ts";
import { claimingClass, type PreemptionReason, preemptionProtection, reasonFor } from "../../queries/preemption.ts";
import { fail, requeue } from "../../transitions/attempt/failure.ts";
import { beginCheckpoint, suspendAfterCheckpoint } from "../../transitions/checkpoint/ask.ts";
import { loseNode } from "../../transitions/scaling/lose-node.ts";
import type { Step } from "../../transitions/step.ts";

/** Stops running work for a pending allocation and keeps the nodes for it. All victims or none. */
export interface PreemptCommand {
  readonly kind: "allocation.preempt";
  /** The preemptor. */
  readonly allocation: AllocationId;
  /** The last entry that the scheduler had applied. */
  readonly basis: LogIndex;
  readonly victims: readonly {
    readonly allocation: AllocationId;
    readonly attempt: Attempt;
    /** Set when the work cannot be checkpointed now and is stopped without. Default: checkpointed where supported. */
    readonly force?: boolean;
  }[];
  /** The nodes of the preemptor: nodes of the victims, and free ones. */
  readonly nodes: readonly NodeId[];
}

export function preemptVictims(step: Step, command: PreemptCommand): Outcome {
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
  const preemptedNodes = { nodes: command.nodes, since: step.at };
  const noted = withNote(winner, noteOf(victims, command), step);
  state.putAllocation({ ...noted, phase: { ...pendingOf(winner), preemptedNodes } });
  return accepted(winner.id);
}

/** Victims named in the preemptor's events; the others are counted. */
const NAMED_VICTIMS = 8;

function noteOf(victims: readonly Victim[], { nodes }: PreemptCommand): NewNote {
  const named = victims.slice(0, NAMED_VICTIMS).map(({ record }) => record.id);
  const more = victims.length > named.length ? ` and ${victims.length - named.length} more` : "";
  const who = `${victims.length === 1 ? "Allocation" : "Allocations"} ${named.join(", ")}${more}`;
  const held = nodes.length === 1 ? "1 node is reserved for it" : `${nodes.length} nodes are reserved for it`;
  const text = `${who} ${victims.length === 1 ? "makes" : "make"} room for it; ${held}.`;
  return { type: "preemption", kind: "others_stopped", text, nodes };
}

interface Victim {
  readonly record: Allocation;
  readonly phase: PlacedPhase;
  readonly reason: PreemptionReason;
  /** Stops a victim without a checkpoint. */
  readonly force: boolean;
}

function pendingOf({ id, phase }: Allocation): PendingPhase {
  invariant(phase.kind === "pending", `${id} does not wait`);
  return phase;
}

function againstWinner(step: Step, { basis, victims }: PreemptCommand, winner: Allocation): Refusal | null {
  const { id, phase, pendingSinceIndex, spec } = winner;
  if (basis >= step.index)
    return say("stale_plan", `it names log entry ${basis} as its basis, which does not exist yet`);
  if (phase.kind !== "pending") return say("stale_plan", `allocation ${id} is ${phase.kind}`);
  if (phase.backoffUntil !== undefined) return say("stale_plan", `allocation ${id} waits for its backoff`);
  if (winner.hold !== undefined) return say("stale_plan", `allocation ${id} is held by ${winner.hold.by}`);
  if (winner.unmet.length > 0) return say("stale_plan", `allocation ${id} waits for its dependencies`);
  if (basis < pendingSinceIndex)
    return say("stale_plan", `allocation ${id} is pending since entry ${pendingSinceIndex}`);
  const vcluster = step.state.vcluster(spec.vcluster);
  const policy = vcluster === undefined ? null : policyOf(vcluster);
  if (policy?.preempts !== true) return say("illegal_transition", `vCluster "${spec.vcluster}" does not preempt`);
  const distinct = new Set(victims.map((victim) => victim.allocation)).size === victims.length;
  if (distinct && victims.length >= 1 && victims.length <= policy.maxVictims) return null;
  return say("illegal_transition", `a preemption must stop 1 to ${policy.maxVictims} allocations`);
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
  if (!isPlaced(phase)) return say("stale_plan", `allocation ${id} is ${phase.kind} and has no nodes`);
  if (phase.kind === "checkpointing" && phase.request.next === "suspend") {
    return say("stale_plan", `allocation ${id} is being checkpointed for its nodes`);
  }
  const shield = preemptionProtection(step.state, record);
  if (shield !== null) return say("illegal_transition", shield);
  const own = claimingClass(step.state, winner);
  if (spec.lifecycle.preemptionClass >= own) {
    const classes = `class ${spec.lifecycle.preemptionClass} is not below class ${own}`;
    return say("illegal_transition", `allocation ${id} is not stopped for ${winner.id}: ${classes}`);
  }
  if (!phase.nodes.some((node) => nodes.includes(node))) {
    return say("stale_plan", `allocation ${id} has none of the needed nodes`);
  }
  return { record, phase, reason: reasonFor(step.state, winner, record), force: named.force === true };
}

/** Returns the borrowed nodes of a reactive service, which continues on the others. Returns false when it cannot. */
function handBack(step: Step, { record, phase, reason }: Victim, { nodes }: PreemptCommand): boolean {
  const { lifecycle, resources } = record.spec;
  const asked = phase.nodes.filter((node) => nodes.includes(node));
  const left = phase.nodes.length - asked.length;
  if (reason !== "reclaim" || lifecycle.kind !== "reactive" || left < resources.minNodes) return false;
  let now = record;
  for (const node of asked) {
    const lost = { node, reason: "reclaim", detail: "reclaimed by the vCluster that lent it", isLost: false } as const;
    if (!isPlaced(now.phase) || !loseNode(step, now, now.phase, lost)) return now !== record;
    now = present(step.state.allocation(record.id), `allocation ${record.id} is gone`);
  }
  return true;
}

function stop(step: Step, winner: Allocation, { record, phase, reason, force }: Victim): void {
  const message = `stopped for allocation ${winner.id} of class ${claimingClass(step.state, winner)} (${reason})`;
  const grace = reason === "reclaim" ? returnGrace(step, winner) : {};
  if (record.spec.checkpoint !== undefined && !force && phase.kind !== "staging") {
    const wanted = { cause: "preempted", next: "suspend", for: winner.id, message, ...grace } as const;
    if (phase.kind === "checkpointing") suspendAfterCheckpoint(step, record, phase, wanted);
    else beginCheckpoint(step, record, phase, wanted);
    return;
  }
  if (record.spec.lifecycle.requeuePolicy === "never") {
    fail(step, record, phase, { reason: "preempted", exitCode: null, message, lostNode: null, ...grace });
    return;
  }
  requeue(step, record, phase, { cause: "preempted", lostNode: null, message, ...grace });
}

/** The grace of the lending vCluster. */
function returnGrace(step: Step, { spec }: Allocation) {
  const vcluster = step.state.vcluster(spec.vcluster);
  const lending = vcluster === undefined ? null : policyOf(vcluster).lending;
  return lending === null ? {} : { grace: lending.returnGrace };
}

const say = (code: RefusalCode, detail: string): Refusal => ({ code, detail });
const no = (code: RefusalCode, detail: string): Outcome => rejected(say(code, detail));
