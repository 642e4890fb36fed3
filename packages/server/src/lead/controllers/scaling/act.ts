// Scales services: reads their metrics, proposes the decided changes, and remembers which of them `apply` rejected.

import { type Allocation, type AllocationId, type Attempt, attempt, duration, type NodeId } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, monotonicNow } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/observe/index.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Readings } from "../../telemetry/readings.ts";
import type { Controller } from "../periodic/periodic.ts";
import { decideScaling, type ScalingIntent, servicesToRead } from "./decide.ts";
import { afterOutcome, type ScalingMemory, UNWATCHED } from "./memory.ts";

export interface ScalingContext {
  readonly replica: Replica;
  readonly sequencer: Pick<Sequencer, "propose">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reachable: (node: NodeId) => boolean;
  readonly reserved: (node: NodeId) => boolean;
  readonly readings: Readings;
  /** Returns whether the attempt passes its liveness probe. Default: only time decides. */
  readonly probed?: (node: NodeId, allocation: AllocationId, attempt: Attempt) => boolean;
  readonly metrics: Pick<Metrics, "scaled" | "metricQueryFailed">;
}

export const scalingController = (
  context: Omit<ScalingContext, "reachable" | "reserved" | "readings" | "probed"> & {
    readonly hub: Pick<AgentHub, "connected">;
    readonly scaling: Pick<ScalingContext, "reserved" | "readings" | "probed">;
  },
  signal: AbortSignal,
): Controller => ({
  name: "scaling",
  every: duration(1_000),
  run: createScaler({ ...context, ...context.scaling, reachable: context.hub.connected }, signal),
});

/** Returns one run of the controller. */
function createScaler(context: ScalingContext, signal: AbortSignal): () => Promise<void> {
  const { replica, sequencer, clock, logger, reachable, reserved, metrics } = context;
  const probed = (node: NodeId, { id }: Allocation, number: number): boolean =>
    context.probed?.(node, id, attempt(number)) === true;
  let memory: ScalingMemory = new Map();
  return async () => {
    const base = { view: replica.view, reachable, reserved };
    const due = servicesToRead({ ...base, now: monotonicNow(clock), wallNow: clock.now(), memory });
    const values = await context.readings.read(due, signal);
    for (const { id, spec } of due) {
      if (values.get(id) !== undefined) continue;
      metrics.metricQueryFailed();
      // Logged once; the user gets a notice after some more failures.
      const first = (memory.get(id)?.missing ?? 0) === 0;
      const metric = spec.lifecycle.scale?.metric;
      if (first) logger.warn({ allocation: id, metric }, "service not scaled: its metric has no value");
    }
    const inputs = { ...base, now: monotonicNow(clock), wallNow: clock.now(), memory };
    const verdict = decideScaling({ ...inputs, reading: ({ id }) => values.get(id) ?? null, probed });
    const next = new Map(verdict.memory);
    await Promise.all(verdict.intents.map((intent) => carryOut(intent)));
    memory = next;

    async function carryOut(intent: ScalingIntent): Promise<void> {
      const { outcome } = await sequencer.propose(intent);
      if (intent.kind !== "allocation.scale") return;
      const accepted = outcome.kind === "accepted";
      const { allocation, change, node, detail } = intent;
      metrics.scaled(change === "add" ? "up" : "down", accepted ? "done" : "refused");
      const facts = { allocation, node, change, detail };
      if (accepted) logger.info(facts, "service scaled");
      else logger.warn({ ...facts, refusal: outcome.refusal }, "service not scaled: rejected");
      const record = replica.view.allocation(allocation);
      const cooldown = record?.spec.lifecycle.scale?.cooldown ?? 0;
      next.set(allocation, afterOutcome(next.get(allocation) ?? UNWATCHED, accepted, monotonicNow(clock), cooldown));
    }
  };
}
