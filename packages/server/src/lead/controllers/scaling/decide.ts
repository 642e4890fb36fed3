// Decides whether a service gains or loses one node. In this order: wait for nodes that are starting; refill to the
// minimum; replace nodes that run the version from before the update; shrink to the maximum; then compare the metric with the
// target over its windows. Without a metric the size stays. Pure.

import {
  type Allocation,
  between,
  type ClearNoticeCommand,
  type Instant,
  isHalted,
  isService,
  mostNodes,
  type NodeId,
  noticeKey,
  type RaiseNoticeCommand,
  type RequeueCommand,
  type RunningPhase,
  type ScaleCommand,
  type ScalePolicy,
} from "@lattice/core";
import { type CandidateInputs, nodeToAdd, nodeToRemove, scaleOf } from "./choose-node.ts";
import { type ScalingMemory, UNWATCHED, type Watched } from "./memory.ts";
import { renew } from "./renew.ts";

interface ScalingInputs extends CandidateInputs {
  /** Monotonic. */
  readonly now: Instant;
  /** Wall clock, for comparison with times in the state. */
  readonly wallNow: Instant;
  readonly memory: ScalingMemory;
  /** Returns whether the agent reported that the attempt passes its probe. */
  readonly probed: (node: NodeId, record: Allocation, attempt: number) => boolean;
  /** Returns the mean over the nodes of a service that is due; `null` when unknown. */
  readonly reading: (record: Allocation) => number | null;
}

export type ScalingIntent = ScaleCommand | RequeueCommand | RaiseNoticeCommand | ClearNoticeCommand;

interface ScalingVerdict {
  readonly intents: readonly ScalingIntent[];
  readonly memory: ScalingMemory;
}

/** Consecutive evaluations without a metric before the user gets a notice. */
const MAX_MISSING = 3;

/** Returns the services whose metric must be read now. */
export function servicesToRead(inputs: Omit<ScalingInputs, "reading" | "probed">): readonly Allocation[] {
  return services(inputs).filter((record) => isDue(record, inputs));
}

export function decideScaling(inputs: ScalingInputs): ScalingVerdict {
  const intents: ScalingIntent[] = [];
  const memory = new Map(inputs.memory);
  const known = new Set<string>();
  for (const record of services(inputs)) {
    known.add(record.id);
    const judged = judge(record, record.phase as RunningPhase, inputs);
    memory.set(record.id, judged.watched);
    intents.push(...judged.intents);
  }
  for (const id of memory.keys()) if (!known.has(id)) memory.delete(id);
  return { intents, memory };
}

const services = ({ view }: Pick<ScalingInputs, "view">): readonly Allocation[] =>
  Array.from(view.placed()).filter(({ phase, spec }) => phase.kind === "running" && isService(spec.lifecycle));

function isDue({ id, spec }: Allocation, { now, memory }: Pick<ScalingInputs, "now" | "memory">): boolean {
  const { scale } = spec.lifecycle;
  const { evaluatedAt, quietUntil } = memory.get(id) ?? UNWATCHED;
  if (scale === undefined || (quietUntil !== null && now < quietUntil)) return false;
  return evaluatedAt === null || between(evaluatedAt, now) >= scale.evaluationInterval;
}

interface Judged {
  readonly watched: Watched;
  readonly intents: readonly ScalingIntent[];
}

function judge(record: Allocation, phase: RunningPhase, inputs: ScalingInputs): Judged {
  const watched = inputs.memory.get(record.id) ?? UNWATCHED;
  const { quietUntil } = watched;
  if (phase.progress.some(({ state }) => state === "ordered" || state === "staging")) return { watched, intents: [] };
  if (quietUntil !== null && inputs.now < quietUntil) return { watched, intents: [] };
  if (phase.nodes.length < record.spec.resources.minNodes) return { watched, intents: refill(record, phase, inputs) };
  const over = cleared(record, inputs);
  const another = (): NodeId | null => (hasRoom(record, inputs) ? nodeToAdd(inputs, record) : null);
  const renewal = renew(record, phase, { ...inputs, another });
  if (renewal !== null) return { watched, intents: [...over, ...renewal] };
  const { scale } = record.spec.lifecycle;
  const surplus = scale === undefined ? [] : shed(record, phase, inputs);
  if (surplus.length > 0) return { watched, intents: [...over, ...surplus] };
  if (scale === undefined || !isDue(record, inputs)) return { watched, intents: over };
  const judged = byMetric(record, phase, scale, watched, inputs);
  return { ...judged, intents: [...over, ...judged.intents] };
}

function refill(record: Allocation, phase: RunningPhase, inputs: ScalingInputs): readonly ScalingIntent[] {
  const { minNodes } = record.spec.resources;
  const detail = `${phase.nodes.length} of at least ${minNodes} nodes`;
  const obstacle = growthObstacle(record, phase, inputs);
  const node = obstacle === null ? nodeToAdd(inputs, record) : null;
  if (node !== null) return [scaleOf(record, phase, { change: "add", node, reason: "minimum", detail })];
  const text = `service ${record.id} runs on ${detail}, and ${obstacle ?? "no node is free for it"}`;
  return [raise(record, "scaling_below_minimum", text)];
}

/** Returns `null` when the service may get one more node. */
function growthObstacle(record: Allocation, phase: RunningPhase, inputs: ScalingInputs): string | null {
  if (isHalted(record, phase)) return "its update is halted: another node would run the failed version";
  if (hasRoom(record, inputs)) return null;
  return `the quota of tenant "${record.spec.tenant}" has no room for another node`;
}

/** The maximum was lowered after the service grew: it shrinks whatever its metric is. */
function shed(record: Allocation, phase: RunningPhase, { view }: ScalingInputs): readonly ScalingIntent[] {
  const most = mostNodes(record);
  if (phase.nodes.length <= most) return [];
  const node = nodeToRemove(view, record, phase);
  const detail = `${phase.nodes.length} of at most ${most} nodes`;
  return node === null ? [] : [scaleOf(record, phase, { change: "remove", node, reason: "maximum", detail })];
}

/** The condition of the notice has ended. */
function cleared({ id }: Allocation, { view }: ScalingInputs): readonly ScalingIntent[] {
  const key = noticeKey("scaling_below_minimum", id);
  const notice = view.notice(key);
  return notice === undefined || notice.clearedAt !== undefined ? [] : [{ kind: "notice.clear", key }];
}

function byMetric(
  record: Allocation,
  phase: RunningPhase,
  scale: ScalePolicy,
  before: Watched,
  inputs: ScalingInputs,
): Judged {
  const { now, wallNow } = inputs;
  const value = inputs.reading(record);
  if (value === null) {
    const watched = { ...before, evaluatedAt: now, highSince: null, lowSince: null, missing: before.missing + 1 };
    const text = `service ${record.id} is not scaled: its metric ${scale.metric} has no value`;
    return { watched, intents: watched.missing < MAX_MISSING ? [] : [raise(record, "scaling_metric_missing", text)] };
  }
  const key = noticeKey("scaling_metric_missing", record.id);
  const notice = inputs.view.notice(key);
  const intents: ScalingIntent[] =
    notice !== undefined && notice.clearedAt === undefined ? [{ kind: "notice.clear", key }] : [];
  const target = scale.targetMilli / 1000;
  const low = (target * scale.downThresholdMilli) / 1000;
  const watched: Watched = {
    ...before,
    evaluatedAt: now,
    missing: 0,
    highSince: value > target ? (before.highSince ?? now) : null,
    lowSince: value < low ? (before.lowSince ?? now) : null,
  };
  const changed = lastChange(record, phase);
  if (changed !== null && between(changed, wallNow) < scale.cooldown) return { watched, intents };
  const { highSince, lowSince } = watched;
  const size = phase.nodes.length;
  if (highSince !== null && between(highSince, now) >= scale.upWindow && size < mostNodes(record)) {
    const node = hasRoom(record, inputs) ? nodeToAdd(inputs, record) : null;
    const detail = `${scale.metric} ${figure(value)} is above ${figure(target)}`;
    if (node !== null) intents.push(scaleOf(record, phase, { change: "add", node, reason: "metric", detail }));
  }
  if (lowSince !== null && between(lowSince, now) >= scale.downWindow && size > scale.minNodes) {
    const node = nodeToRemove(inputs.view, record, phase);
    const detail = `${scale.metric} ${figure(value)} is below ${figure(low)}`;
    if (node !== null) intents.push(scaleOf(record, phase, { change: "remove", node, reason: "metric", detail }));
  }
  return { watched, intents };
}

/** The time of the last change of size; a restart with the minimum is a change as well. `null` when there was none. */
function lastChange({ scaling, past }: Allocation, { startedAt }: RunningPhase): Instant | null {
  const restartedAt = (past?.attempts.length ?? 0) > 0 ? startedAt : null;
  if (scaling === undefined || restartedAt === null) return scaling?.at ?? restartedAt;
  return scaling.at > restartedAt ? scaling.at : restartedAt;
}

/** An exhausted quota is not an error: the service keeps its size. */
function hasRoom({ spec }: Allocation, { view }: ScalingInputs): boolean {
  const most = view.tenant(spec.tenant)?.quota.maxNodes ?? null;
  return most === null || view.usage(spec.tenant).nodes < most;
}

const raise = (
  { id, spec, user }: Allocation,
  kind: "scaling_below_minimum" | "scaling_metric_missing",
  text: string,
): RaiseNoticeCommand => ({
  kind: "notice.raise",
  notice: { key: noticeKey(kind, id), kind, text, tenant: spec.tenant, user, allocation: id },
});

const figure = (value: number): string => String(Math.round(value * 1000) / 1000);
