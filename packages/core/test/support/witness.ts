// Watches a history from outside and keeps its own, simpler books: where each allocation and
// node was last seen, what each node has reported, and how much work was done. It trusts events
// only as far as the records bear them out.

import {
  type Allocation,
  type AllocationId,
  type Applied,
  attemptOn,
  type Command,
  canMove,
  canMoveNode,
  isFinal,
  isPlaced,
  isSensitive,
  type Node,
  type NodeId,
  type NodeProgress,
  type NodeStateKind,
  type Outcome,
  type PhaseKind,
  type ReportCommand,
  type State,
  type TaskGroup,
  UNLIMITED,
} from "@lattice/core";
import { brokenInvariants } from "../invariants/broken-invariants.ts";
import { watchInvariants } from "../invariants/watch.ts";
import { nodeId } from "./cluster.ts";

export interface Work {
  commands: number;
  placed: number;
  refused: number;
  stale: number;
  overQuota: number;
  /** Placements of sensitive work, and refusals because the pool was full. */
  sensitive: number;
  overPool: number;
  completed: number;
  failed: number;
  cancelled: number;
  requeued: number;
  preempted: number;
  /** Allocations with a complete checkpoint, and with a requested one. */
  suspended: number;
  checkpointing: number;
  borrowed: number;
  archived: number;
  repeated: number;
  nodeMoves: number;
  /** Reports that led on, and reports that would have led back. */
  forwards: number;
  backwards: number;
}

export const noWork = (): Work => ({
  commands: 0,
  placed: 0,
  refused: 0,
  stale: 0,
  overQuota: 0,
  sensitive: 0,
  overPool: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  requeued: 0,
  preempted: 0,
  suspended: 0,
  checkpointing: 0,
  borrowed: 0,
  archived: 0,
  repeated: 0,
  nodeMoves: 0,
  forwards: 0,
  backwards: 0,
});

/** How far a node has got with an attempt. */
const RANK: Readonly<Record<NodeProgress["state"], number>> = {
  ordered: 0,
  staging: 1,
  running: 2,
  completed: 3,
  failed: 3,
};

export interface Witness {
  /** To be called before and after each entry of one command. */
  before(command: Command): void;
  after(command: Command, applied: Applied): void;
}

export function createWitness(state: State, work: Work): Witness {
  const phases = new Map<AllocationId, string>();
  const nodes = new Map<NodeId, string>();
  /** By allocation, attempt and node: the last report that was taken. */
  const words = new Map<string, ReportCommand["state"]>();
  let records: readonly (Allocation | Node | TaskGroup)[] = [];
  let assigned = false;
  let releasing = false;
  let known: ReadonlyMap<AllocationId, Allocation> = new Map();
  const brokenByChange = watchInvariants(state);

  const all = (): readonly (Allocation | Node | TaskGroup)[] => [
    ...state.allocations(),
    ...state.nodes(),
    ...state.groups(),
  ];

  function followEvents(applied: Applied): void {
    for (const event of applied.events) {
      if (event.kind === "allocation_changed" && event.allocation !== undefined) {
        const from = event.from ?? "";
        check(from === (phases.get(event.allocation) ?? ""), `${event.allocation} was not ${from}`);
        const legal = from === "" ? event.to === "pending" : canMove(from as PhaseKind, event.to as PhaseKind);
        const same = ["updated", "held", "released", "scaled_up", "scaled_down", "vni_pool_exhausted"].includes(
          event.reason ?? "",
        );
        check(legal || same, `${event.allocation} moved from ${from} to ${event.to}`);
        phases.set(event.allocation, event.to ?? "");
        if (event.to !== undefined && isCounted(event.to)) work[event.to] += 1;
      }
      if (event.kind === "node_changed" && event.node !== undefined) {
        const from = event.from as NodeStateKind;
        check(from === (nodes.get(event.node) ?? "unknown"), `${event.node} was not ${from}`);
        const legal = canMoveNode(from, event.to as NodeStateKind);
        check(legal || event.reason === "registered", `${event.node} moved from ${from} to ${event.to}`);
        nodes.set(event.node, event.to ?? "");
        work.nodeMoves += 1;
      }
    }
  }

  /** No move goes untold, and what has left the state was archived. */
  function compareRecords(applied: Applied): void {
    for (const effect of applied.effects) {
      if (effect.kind !== "archive") continue;
      check(isFinal(effect.record.phase), `${effect.record.id} was archived too early`);
      check(phases.get(effect.record.id) === effect.record.phase.kind, `${effect.record.id} was archived as another`);
      phases.delete(effect.record.id);
      work.archived += 1;
    }
    const groups = [...state.groups()];
    check(phases.size === state.allocationCount + groups.length, "an allocation came or went untold");
    for (const { id, phase } of groups) check(phase.kind === phases.get(id), `group ${id} moved untold`);
    for (const { id, phase } of state.allocations()) check(phase.kind === phases.get(id), `${id} moved untold`);
    for (const { id, state: now } of state.nodes()) check(now.kind === nodes.get(id), `${id} moved untold`);
  }

  /** O5: the end is the end. O6: one entry counts one requeue at most. */
  function compareWithPast(): void {
    for (const record of state.allocations()) {
      const past = known.get(record.id);
      if (past === undefined) continue;
      check(!isFinal(past.phase) || record === past, `${record.id} changed after its end`);
      const more = record.requeues - past.requeues;
      check(more === 0 || more === 1, `${record.id} was requeued ${more} times at once`);
      if (record.requeues > past.requeues) work.requeued += 1;
      const stopped = record.preemptions - past.preemptions;
      check(stopped === 0 || (stopped === 1 && more === 0), `${record.id} was stopped ${stopped} times at once`);
      checkProgress(record, past);
      check(record.submittedAt === past.submittedAt, `${record.id} was submitted again`);
    }
  }

  /** O1: ownership is there before the order. */
  function checkOrders(applied: Applied): void {
    for (const effect of applied.effects) {
      if (effect.kind !== "run") continue;
      const claims = state.node(effect.node)?.claims ?? [];
      const mine = claims.filter((c) => c.allocation === effect.allocation && c.attempt === effect.attempt);
      check(mine.length === 1 && mine[0]?.releasing === false, `${effect.allocation} runs on a node it does not own`);
    }
  }

  /** S2, O7, E8. */
  function checkPlan(command: Extract<Command, { kind: "plan.commit" }>, applied: Applied): void {
    const [outcome] = applied.outcomes;
    if (outcome?.kind !== "accepted") return;
    outcome.placements?.forEach(({ allocation, refusal }, i) => {
      if (refusal !== null) {
        work.refused += 1;
        if (refusal.code === "stale_plan") work.stale += 1;
        if (refusal.code === "quota_exceeded") work.overQuota += 1;
        if (refusal.detail.includes("sensitive_pool_size")) work.overPool += 1;
        return;
      }
      work.placed += 1;
      const past = known.get(allocation);
      check(past?.phase.kind === "pending", `${allocation} was placed while ${past?.phase.kind}`);
      check(command.basis >= past.pendingSinceIndex, `${allocation} was placed by an old plan`);
      check(command.basis < applied.index, `${allocation} was placed by a plan from the future`);
      check(command.placements[i]?.attempt === past.attempt + 1, `${allocation} was placed as another attempt`);
      checkBorrowed(command.placements[i]?.nodes ?? [], past);
      const { maxNodes, maxConcurrentAllocations } = state.tenant(past.spec.tenant)?.quota ?? UNLIMITED;
      const usage = state.usage(past.spec.tenant);
      checkPool(past);
      check(usage.nodes <= (maxNodes ?? usage.nodes), `${past.spec.tenant} has too many nodes`);
      check(usage.running <= (maxConcurrentAllocations ?? usage.running), `${past.spec.tenant} runs too much`);
    });
  }

  /** The third part of S2, counted node by node. */
  function checkPool({ spec }: Allocation): void {
    if (!isSensitive(state, spec.vcluster)) return;
    let held = 0;
    for (const { claims } of state.nodes()) if (claims.some((claim) => isSensitive(state, claim.vcluster))) held += 1;
    const { sensitivePoolSize } = state.limits;
    check(held <= (sensitivePoolSize ?? held), `sensitive work holds ${held} of ${sensitivePoolSize} nodes`);
    work.sensitive += 1;
  }

  /** Nodes are lent on the owner's terms. */
  function checkBorrowed(placed: readonly NodeId[], { spec }: Allocation): void {
    for (const node of placed) {
      const home = state.node(node)?.homeVCluster ?? null;
      if (home === null || home === spec.vcluster) continue;
      const lending = state.vcluster(home)?.lending ?? null;
      const { preemptionClass, walltime, noPreempt } = spec.lifecycle;
      check(lending !== null, `${node} was taken from ${home}, which lends nothing`);
      check(preemptionClass <= lending.maxClass && noPreempt !== true, `${node} was lent to work that stays`);
      const longest = lending.maxDuration ?? Number.POSITIVE_INFINITY;
      check((walltime ?? Number.POSITIVE_INFINITY) <= longest, `${node} was lent for too long`);
      work.borrowed += 1;
    }
  }

  /** O4: only reports of an assigned node count, only forwards and once. D8: completed means that every node has reported it. */
  function checkReport(report: Extract<Command, { kind: "attempt.report" }>, applied: Applied): void {
    const [outcome] = applied.outcomes;
    const turnedAway = outcome?.kind === "rejected" && outcome.refusal.code === "not_assigned";
    check(assigned !== turnedAway, `${report.node} was ${turnedAway ? "not " : ""}believed about ${report.allocation}`);
    checkRank(report, outcome);
    const record = state.allocation(report.allocation);
    if (record?.phase.kind !== "completed" || known.get(record.id) === record) return;
    const said = record.phase.nodes.map((node) => words.get(`${record.id}/${attemptOn(record, node)}/${node}`));
    check(
      said.every((word) => word === "completed"),
      `${record.id} is completed, but not on all nodes`,
    );
  }

  function checkRank(report: ReportCommand, outcome: Outcome | undefined): void {
    const key = `${report.allocation}/${report.attempt}/${report.node}`;
    const last = words.get(key);
    const forwards = last === undefined || RANK[report.state] > RANK[last];
    // Its checkpoint part may be new when the rest is a repetition.
    if (report.checkpoint !== undefined && !forwards) return;
    if (outcome?.kind === "accepted" && outcome.repeated !== true) {
      check(forwards, `${key} went from ${last} to ${report.state}`);
      check(!releasing || RANK[report.state] === RANK.completed, `${key} is released, and ${report.state} was taken`);
      words.set(key, report.state);
      work.forwards += 1;
    } else if (outcome?.kind === "accepted") {
      check(releasing || report.state === last, `${key} was ${last}, and ${report.state} counted as repeated`);
    } else if (assigned) {
      check(!forwards && report.state !== last, `${key} was ${last}, and ${report.state} was turned away`);
      work.backwards += 1;
    }
  }

  /** The same, as the records tell it: within an attempt no node's progress goes back. */
  function checkProgress(record: Allocation, past: Allocation): void {
    if (!isPlaced(record.phase) || !isPlaced(past.phase) || record.attempt !== past.attempt) return;
    const { nodes: known, progress: before } = past.phase;
    const { nodes } = record.phase;
    record.phase.progress.forEach(({ state: now }, n) => {
      const node = nodes[n] ?? nodeId("none");
      const then = before[known.indexOf(node)]?.state ?? "ordered";
      check(now === then || RANK[now] > RANK[then], `${record.id} went from ${then} to ${now} on ${node}`);
    });
  }

  /** O6: only who has seen the last requeue may order the next. */
  function checkRequeue(command: Extract<Command, { kind: "allocation.requeue" }>, applied: Applied): void {
    if (applied.outcomes[0]?.kind !== "accepted") return;
    const seen = known.get(command.allocation)?.requeues;
    check(seen === command.expectedRequeues, `${command.allocation} was requeued by a caller who saw ${seen}`);
  }

  /** E1: only a lower class is stopped; all named or none; who waits keeps waiting, with its nodes noted. */
  function checkPreempt(command: Extract<Command, { kind: "allocation.preempt" }>, applied: Applied): void {
    if (applied.outcomes[0]?.kind !== "accepted") return;
    const winner = known.get(command.allocation);
    const goesFirst = winner !== undefined && isSensitive(state, winner.spec.vcluster);
    // Sensitive claims go before everything that may be stopped at all.
    const own = goesFirst ? Number.POSITIVE_INFINITY : (winner?.spec.lifecycle.preemptionClass ?? -1);
    check(winner?.phase.kind === "pending", `others were stopped for ${command.allocation}, which does not wait`);
    check(command.victims.length <= 3, "more than three were stopped");
    for (const named of command.victims) {
      const before = known.get(named.allocation);
      const after = state.allocation(named.allocation);
      check(before !== undefined && isPlaced(before.phase), `${named.allocation} was stopped but did not run`);
      check(before.attempt === named.attempt, `another attempt of ${named.allocation} was stopped`);
      check(before.spec.lifecycle.preemptionClass < own, `${named.allocation} was stopped for a class not above it`);
      check(before.spec.lifecycle.noPreempt !== true, `${named.allocation} had asked not to be stopped`);
      const ended = after === undefined || after.phase.kind === "failed";
      const asked = after?.phase.kind === "checkpointing" && after.phase.request.next === "suspend";
      const stops = ended || asked || after.phase.kind === "pending";
      check(stops, `${named.allocation} was stopped and is ${after?.phase.kind}`);
      check(ended || after.requeues === before.requeues, `the stop of ${named.allocation} was counted`);
      work.preempted += 1;
    }
    const phase = state.allocation(command.allocation)?.phase;
    check(
      phase?.kind === "pending" && phase.preemptedNodes !== undefined,
      `${command.allocation} has no nodes to wait for`,
    );
  }

  return {
    before(command) {
      records = all();
      known = new Map(Array.from(state.allocations(), (record) => [record.id, record]));
      const claims = command.kind === "attempt.report" ? (state.node(command.node)?.claims ?? []) : [];
      const claim = claims.find(
        (c) =>
          command.kind === "attempt.report" && c.allocation === command.allocation && c.attempt === command.attempt,
      );
      assigned = claim !== undefined;
      releasing = claim?.releasing === true;
    },
    after(command, applied) {
      work.commands += 1;
      const broken = brokenInvariants(state);
      check(broken.length === 0, broken.join("; "));
      const seen = brokenByChange();
      check(seen.length === 0, `the watch alone says: ${seen.join("; ")}`);
      followEvents(applied);
      compareRecords(applied);
      compareWithPast();
      checkOrders(applied);
      if (command.kind === "plan.commit") checkPlan(command, applied);
      if (command.kind === "attempt.report") checkReport(command, applied);
      if (command.kind === "allocation.requeue") checkRequeue(command, applied);
      if (command.kind === "allocation.preempt") checkPreempt(command, applied);
      const [outcome] = applied.outcomes;
      const idle = outcome?.kind === "rejected" || outcome?.repeated === true;
      if (!idle) return;
      work.repeated += outcome?.kind === "accepted" ? 1 : 0;
      const archived = applied.effects.filter((effect) => effect.kind === "archive").length;
      check(applied.effects.length === archived, `${command.kind} changed nothing and had effects`);
      const now = all();
      check(records.length - now.length === archived, `${command.kind} was idle and records came or went`);
      const kept = new Set(records);
      for (const record of now) check(kept.has(record), `${command.kind} was idle and changed ${record.id}`);
    },
  };
}

const isCounted = (to: string): to is "completed" | "failed" | "cancelled" | "suspended" | "checkpointing" =>
  to === "completed" || to === "failed" || to === "cancelled" || to === "suspended" || to === "checkpointing";

/** Plain, because it is asked millions of times. */
function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
