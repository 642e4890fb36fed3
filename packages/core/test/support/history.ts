// Turns a list of numbers into a history of commands. Each number is the seed of one command,
// chosen with an eye on the state as it is then: mostly sensible, but also stale, repeated, late
// and nonsensical. The same numbers always give the same history.

import {
  type Allocation,
  type AllocationId,
  attempt,
  type CheckpointingPhase,
  type Command,
  duration,
  isPlaced,
  logIndex,
  type Placement,
  type ReportCommand,
  type State,
  type VClusterId,
} from "@lattice/core";
import {
  cancel,
  deleteTenant,
  deleteVCluster,
  disable,
  drain,
  enable,
  health,
  hold,
  id,
  nodeId,
  origin,
  register,
  reportOf,
  scalePolicy,
  setConfig,
  submit,
  tenant,
  tenantId,
  undrain,
  vcluster,
  vclusterId,
} from "./cluster.ts";
import { type Dice, dice, pick } from "./dice.ts";
import {
  makeAudit,
  makeCleared,
  makeDelivered,
  makeGrant,
  makeHooks,
  makeNotice,
  makeSecret,
} from "./history-admin.ts";

export { type Dice, dice, pick } from "./dice.ts";

export const SET_UP: readonly Command[] = [
  tenant("physics", { maxNodes: 4, maxConcurrentAllocations: 3 }),
  tenant("art", { maxNodes: 3 }, 6),
  vcluster("batch", { isDefault: true, sharesNodes: true }),
  vcluster("phys", {
    tenant: tenantId("physics"),
    maxWalltime: duration(3_600_000),
    lending: { keepNodes: 0, maxClass: 4, maxDuration: duration(90_000), returnGrace: duration(5_000) },
  }),
  vcluster("safe", { scheduler: "sensitive_reservation" }),
  { kind: "limits.set", limits: { sensitivePoolSize: 2 } },
  ...["n1", "n2", "n3", "n4"].map((name) => register(name)),
  register("n5", { homeVCluster: vclusterId("phys") }),
];

const NODES = ["n1", "n2", "n3", "n4", "n5", "n6"];
const nodeName = (roll: Dice): string => pick(roll, NODES) ?? "n1";
export const someId = (roll: Dice, state: State): AllocationId => id(1 + roll(state.counters.nextAllocation + 1));

type Maker = (roll: Dice, state: State) => Command;

/** How often each kind comes, out of the sum of all. */
const MAKERS: readonly (readonly [number, Maker])[] = [
  [30, makeSubmit],
  [42, makePlan],
  [80, makeReport],
  [5, (roll, state) => cancel(someId(roll, state))],
  [3, makeRequeue],
  [9, makePreempt],
  [3, makeNetwork],
  [2, (roll) => ({ kind: "limits.set", limits: { sensitivePoolSize: roll(4) === 0 ? null : roll(3) } })],
  [3, makeSetAside],
  [8, makeScale],
  [3, makeRelease],
  [2, makeHold],
  [22, makeCheckpoint],
  [2, makeExpire],
  [8, (roll) => health(nodeName(roll), pick(roll, ["heard", "late", "silent", "hardware"]) ?? "heard")],
  [14, makeRepair],
  [3, (roll) => register(nodeName(roll), { bootId: `b${roll(2)}` })],
  [2, (roll) => drain(nodeName(roll), roll(2) === 0)],
  [1, (roll) => undrain(nodeName(roll))],
  [1, (roll) => disable(nodeName(roll))],
  [1, (roll) => enable(nodeName(roll))],
  [2, makeTenantUpdate],
  [3, makeGrant],
  [1, makeSecret],
  [3, makeAudit],
  [2, makeUpdate],
  [1, (roll) => ({ kind: "retention.set", maxFinished: roll(8), maxFinishedAge: duration(roll(2) * 100_000) })],
  [1, makeHooks],
  [2, makeDelivered],
  [1, makeCleared],
  [2, makeNotice],
  [1, (roll) => vcluster(pick(roll, ["batch", "third", "Not Good"]) ?? "third")],
  [1, (roll) => deleteVCluster(pick(roll, ["batch", "third", "phys", "nowhere"]) ?? "third")],
  [1, (roll) => deleteTenant(pick(roll, ["new", "art", "physics", "unknown"]) ?? "new")],
  [1, (roll) => setConfig(`a.b${roll(3)}`, roll(3) === 0 ? null : String(roll(4)))],
];
const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

export function commandFor(seed: number, state: State, past: readonly Command[]): Command {
  const roll = dice(seed);
  const before = past.length > 0 && roll(20) === 0 ? past[roll(past.length)] : undefined;
  if (before !== undefined) return before;
  let left = roll(TOTAL);
  for (const [weight, make] of MAKERS) {
    if (left < weight) return make(roll, state);
    left -= weight;
  }
  return makeSubmit(roll);
}

function makeSubmit(roll: Dice): Command {
  const least = roll(12) === 0 ? roll(7) : 1 + roll(2);
  const bounded = roll(5) > 0;
  const reactive = !bounded && roll(2) === 0;
  const own = roll(3) === 0;
  return submit(
    {
      tenant: own || roll(3) > 0 ? "physics" : (pick(roll, ["art", "new", "Not Good"]) ?? "art"),
      vcluster: own
        ? "phys"
        : (pick(roll, ["batch", "batch", "batch", "batch", "batch", "safe", "safe", "phys", "nowhere"]) ?? "batch"),
      nodes: reactive ? 1 : [least, least + roll(2)],
      resources:
        roll(6) === 0 ? { requiredNodes: [nodeId(nodeName(roll))] } : { cpuCores: roll(20) === 0 ? 9 : roll(9) },
      lifecycle: {
        kind: bounded ? "bounded" : reactive ? "reactive" : "unbounded",
        ...(reactive ? { scale: scalePolicy(1, 3) } : {}),
        walltime: bounded ? duration(1000 * (1 + roll(100))) : null,
        preemptionClass: roll(9),
        requeuePolicy: pick(roll, ["never", "on_node_failure", "always"] as const) ?? "never",
        maxRequeue: roll(3),
        ...(roll(8) === 0 ? { noPreempt: true } : {}),
      },
      ...(roll(3) === 0 ? { domain: pick(roll, ["blue", "green"]) ?? "blue" } : {}),
      ...(bounded && roll(2) === 0 ? { checkpoint: { auto: roll(2) === 0 } } : {}),
    },
    origin(roll(3) === 0 ? `r${roll(6)}` : null, `h${roll(4) === 0 ? 1 : 0}`),
  );
}

function makePlan(roll: Dice, state: State): Command {
  const waiting = ["batch", "phys", "safe"].map(vclusterId).filter((name) => state.pendingCount(name) > 0);
  const vc: VClusterId | undefined = pick(roll, waiting);
  if (vc === undefined) return makeSubmit(roll);
  const queue = Array.from(state.pending(vc));
  const free = Array.from(state.nodes()).filter((node) => node.state.kind === "ready" && node.claims.length === 0);
  const shared = Array.from(state.nodes()).filter(
    ({ state: now, claims }) => now.kind === "ready" && claims.some((claim) => !claim.exclusive),
  );
  const placements: Placement[] = [];
  for (let i = 0; i <= roll(3); i += 1) {
    const record = roll(12) === 0 ? pick(roll, Array.from(state.allocations())) : queue[i];
    if (record === undefined) break;
    const { minNodes, maxNodes, constraints } = record.spec.resources;
    const count = roll(2) === 0 ? minNodes : maxNodes;
    const lends = roll(3) === 0;
    const shares = maxNodes === 1 && roll(3) > 0;
    const joins = shares && roll(2) === 0 ? shared.map((node) => node.id) : [];
    const usable = free
      .filter((node) => lends || node.homeVCluster === null || node.homeVCluster === vc)
      .map((node) => node.id);
    // Two placements of one plan may well want the same node.
    const chosen = [...new Set([...constraints.requiredNodes, ...joins, ...usable.slice(i * count), ...usable])].slice(
      0,
      count,
    );
    if (roll(12) === 0) chosen.push(nodeId(nodeName(roll)));
    placements.push({
      allocation: roll(20) === 0 ? someId(roll, state) : record.id,
      attempt: attempt(record.attempt + (roll(15) === 0 ? roll(3) : 1)),
      nodes: chosen,
      scores: { total: roll(1000) },
      backfilled: i > 0,
      ...(shares ? { shared: true as const } : null),
    });
  }
  const basis = Math.max(0, roll(8) === 0 ? state.index - 3 + roll(6) : state.index);
  return { kind: "plan.commit", vcluster: vc, basis: logIndex(basis), placements };
}

const NEXT = { ordered: "staging", staging: "running", running: "completed" } as const;

function makeReport(roll: Dice, state: State): Command {
  if (roll(8) === 0) return stray(roll, state);
  const claimed = Array.from(state.nodes()).filter((node) => node.claims.length > 0);
  const node = pick(roll, claimed);
  const claim = node?.claims[0];
  if (node === undefined || claim === undefined) return makeSubmit(roll);
  const number = claim.allocation;
  const holder = state.allocation(number);
  if (holder?.phase.kind === "checkpointing" && roll(6) > 0) return wordOf(roll, holder, holder.phase, node.id);
  if (roll(14) === 0) {
    const reason = pick(roll, ["exit_code", "signal", "lost", "launch_failed", "stopped"] as const) ?? "lost";
    return reportOf(number, node.id, claim.attempt, "failed", reason);
  }
  const record = state.allocation(claim.allocation);
  return reportOf(number, node.id, claim.attempt, claim.releasing ? "completed" : nextOf(record, node.id, roll));
}

function nextOf(record: Allocation | undefined, node: string, roll: Dice): ReportCommand["state"] {
  if (record === undefined || !isPlaced(record.phase)) return "completed";
  const now = record.phase.progress[record.phase.nodes.indexOf(nodeId(node))]?.state ?? "ordered";
  const next = now === "completed" || now === "failed" ? "running" : NEXT[now];
  return roll(10) === 0 ? "staging" : next;
}

function stray(roll: Dice, state: State): Command {
  const told = pick(roll, ["staging", "running", "completed", "failed"] as const) ?? "running";
  return reportOf(someId(roll, state), nodeName(roll), attempt(roll(3)), told);
}

/** A node's word on a checkpoint, alone or with its end; sometimes about another one. */
function wordOf(
  roll: Dice,
  { id: number, attempt: tries }: Allocation,
  phase: CheckpointingPhase,
  node: string,
): Command {
  const said = pick(roll, ["running", "running", "running", "completed", "failed"] as const) ?? "running";
  const reason = pick(roll, ["exit_code", "signal", "walltime_exceeded"] as const) ?? "signal";
  const base = reportOf(number, node, tries, said, said === "failed" ? reason : null);
  const n = phase.request.n - (roll(12) === 0 ? 1 : 0);
  const checkpoint = { n, ok: roll(6) > 0, bytes: roll(100), message: "the disk is full" };
  return { ...(base as ReportCommand), checkpoint };
}

function makeCheckpoint(roll: Dice, state: State): Command {
  const runs = ({ phase, spec }: Allocation): boolean => phase.kind !== "staging" && spec.checkpoint !== undefined;
  const able = Array.from(state.placed()).filter((record) => roll(6) === 0 || runs(record));
  const waiting = Array.from(state.allocations()).filter(({ phase }) => phase.kind === "suspended");
  if (waiting.length > 0 && roll(4) === 0) {
    return { kind: "allocation.resume", origin: origin(), id: pick(roll, waiting)?.id ?? someId(roll, state) };
  }
  const record = pick(roll, able);
  const phase = record?.phase;
  if (record !== undefined && phase?.kind === "checkpointing" && roll(3) > 0) {
    return wordOf(roll, record, phase, phase.nodes[phase.request.answers.indexOf(null)] ?? nodeName(roll));
  }
  const allocation = record?.id ?? someId(roll, state);
  const tries = record === undefined || roll(8) === 0 ? attempt(roll(3)) : record.attempt;
  if (roll(8) === 0) {
    const n = record?.checkpoints?.asked ?? 1;
    return { kind: "checkpoint.expire", allocation, attempt: tries, n };
  }
  if (roll(3) === 0) return { kind: "allocation.checkpoint", origin: origin(), id: allocation };
  const cause = (["drained", "broker", "walltime"] as const)[roll(3)] ?? "broker";
  return { kind: "attempt.checkpoint", allocation, attempt: tries, cause, message: "it pays" };
}

function makeRequeue(roll: Dice, state: State): Command {
  const placed = Array.from(state.placed());
  const record = roll(4) === 0 ? undefined : pick(roll, placed);
  const expectedRequeues = roll(4) === 0 ? roll(4) : (record?.requeues ?? 0);
  const cause = pick(roll, ["node_failure", "launch_failed", "drained", "policy"] as const) ?? "policy";
  return { kind: "allocation.requeue", allocation: record?.id ?? someId(roll, state), expectedRequeues, cause };
}

/** Mostly a decision that could stand; sometimes of an equal class, an old attempt, or for who does not wait. */
function makePreempt(roll: Dice, state: State): Command {
  const waiting = ["batch", "phys"].flatMap((name) => Array.from(state.pending(vclusterId(name))));
  const winner = roll(8) === 0 ? pick(roll, Array.from(state.allocations())) : pick(roll, waiting);
  const classOf = (record: Allocation): number => record.spec.lifecycle.preemptionClass;
  const own = winner === undefined ? 11 : classOf(winner);
  const below = Array.from(state.placed()).filter((record) => roll(8) === 0 || classOf(record) < own);
  const victims = below.slice(0, 1 + roll(roll(8) === 0 ? 5 : 2));
  const nodes = victims.flatMap(({ phase }) => (isPlaced(phase) ? phase.nodes : []));
  return {
    kind: "allocation.preempt",
    allocation: winner?.id ?? someId(roll, state),
    basis: logIndex(Math.max(0, roll(8) === 0 ? state.index - 3 + roll(6) : state.index)),
    victims: victims.map(({ id: name, attempt: tries }) => ({
      allocation: name,
      attempt: roll(12) === 0 ? attempt(roll(3)) : tries,
    })),
    nodes: roll(12) === 0 ? [nodeId(nodeName(roll))] : nodes,
  };
}

/** Mostly one that could stand; sometimes of a stranger, an old size, or with a node that is not free. */
function makeScale(roll: Dice, state: State): Command {
  const services = Array.from(state.placed()).filter(({ spec }) => spec.lifecycle.kind !== "bounded");
  const record = roll(10) === 0 ? pick(roll, Array.from(state.placed())) : pick(roll, services);
  if (record === undefined || !isPlaced(record.phase)) return makeSubmit(roll);
  const { nodes } = record.phase;
  const free = Array.from(state.nodes()).filter((node) => node.state.kind === "ready" && node.claims.length === 0);
  const change = roll(3) === 0 ? "remove" : "add";
  const node = change === "add" ? pick(roll, free)?.id : pick(roll, nodes);
  return {
    kind: "allocation.scale",
    allocation: record.id,
    attempt: roll(12) === 0 ? attempt(roll(3)) : record.attempt,
    size: nodes.length + (roll(12) === 0 ? 1 : 0),
    change,
    node: node ?? nodeId(nodeName(roll)),
    reason: pick(roll, ["metric", "minimum", "renewal"] as const) ?? "metric",
    detail: "by chance",
  };
}

function makeNetwork(roll: Dice, state: State): Command {
  const domain = pick(roll, Array.from(state.domains()));
  const name = domain?.name ?? "blue";
  if (roll(3) === 0) {
    const { managed: _managed, ...plain } = state.network;
    const own = { vniEnd: 1_000 + roll(4), autoDomains: roll(2) === 0, grace: duration(0) };
    const settings = { ...plain, ...own, ...(roll(3) === 0 ? { managed: true as const } : {}) };
    return { kind: "network.set", settings };
  }
  if (roll(3) === 0 && domain !== undefined) {
    const nodes = ["n1", "n2", "n3"].map((each) => nodeId(each)).filter(() => roll(2) === 0);
    const problem = roll(3) === 0 ? "it is away" : "";
    return { kind: "network.fabric", key: domain.key, vni: domain.vni - (roll(9) === 0 ? 1 : 0), nodes, problem };
  }
  if (roll(2) === 0) return { kind: "network.release", key: domain?.key ?? "physics/blue" };
  return {
    kind: "network.grace",
    origin: origin(),
    tenant: tenantId("physics"),
    name,
    grace: duration(roll(3) * 1000),
  };
}

function makeSetAside(roll: Dice, state: State): Command {
  const node = nodeId(nodeName(roll));
  if (roll(2) === 0) return { kind: "node.probe", node };
  return { kind: "node.quarantine", node, reason: "it fails", until: roll(2) === 0 ? null : state.at };
}

function makeRelease(roll: Dice, state: State): Command {
  const held = pick(roll, Array.from(state.held()));
  return { kind: "allocation.end_backoff", allocation: held?.id ?? someId(roll, state) };
}

function makeHold(roll: Dice, state: State): Command {
  const held = roll(3) === 0;
  const known = pick(roll, Array.from(held ? state.pending(vclusterId("batch")) : state.onHold()));
  return hold(known?.id ?? someId(roll, state), held, roll(3) === 0 ? "ada" : "root");
}

function makeExpire(roll: Dice, state: State): Command {
  const record = pick(roll, Array.from(state.placed()));
  const tries = record === undefined || roll(4) === 0 ? attempt(roll(3)) : record.attempt;
  return { kind: "attempt.expire", allocation: record?.id ?? someId(roll, state), attempt: tries };
}

/** Most rolls repair nodes, or nothing would run for long. */
function makeRepair(roll: Dice, state: State): Command {
  const broken = pick(
    roll,
    Array.from(state.nodes()).filter((node) => node.state.kind !== "ready"),
  );
  if (broken === undefined) return health(nodeName(roll), "heard");
  const { id: name, state: now } = broken;
  if (now.kind === "drained") return undrain(name);
  if (now.kind !== "down" || now.cause === "silent") return health(name, "heard");
  return now.cause === "hardware" ? disable(name) : enable(name);
}

function makeTenantUpdate(roll: Dice): Command {
  const limit = roll(2) === 0 ? null : 1 + roll(6);
  const quota = roll(2) === 0 ? { maxNodes: limit } : { maxConcurrentAllocations: limit };
  const name = pick(roll, ["physics", "art", "unknown"]) ?? "art";
  const own = roll(3) === 0 ? { within: true as const } : null;
  return { kind: "tenant.update", origin: origin(), tenant: tenantId(name), change: { quota }, ...own };
}

const makeTelemetry = (roll: Dice) => ({
  mode: pick(roll, ["prod", "debug", "audit"] as const) ?? "prod",
  lasts: roll(2) === 0 ? null : duration(1000 * roll(40)),
});
function makeUpdate(roll: Dice, state: State): Command {
  const change =
    roll(2) === 0
      ? { walltime: duration(1000 * roll(200)) }
      : {
          name: `n${roll(3)}`,
          preemptionClass: roll(12),
          ...(roll(3) === 0 ? { telemetry: makeTelemetry(roll) } : {}),
        };
  return { kind: "allocation.update", origin: origin(), id: someId(roll, state), change };
}
