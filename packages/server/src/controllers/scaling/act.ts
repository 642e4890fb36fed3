// Carries out what was decided about services: reads the metrics of those that are to be judged, proposes the changes, and
// remembers what the log refused.

import type { Allocation, AllocationId, Attempt, NodeId } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, steadyNow } from "../../clock.ts";
import type { Sequencer } from "../../leader/sequencer.ts";
import type { Metrics } from "../../observe/index.ts";
import type { Replica } from "../../replica/replica.ts";
import type { Readings } from "../../telemetry/readings.ts";
import { decideScaling, type ScalingIntent, toBeRead } from "./decide.ts";
import { afterOutcome, type ScalingMemory, UNWATCHED } from "./memory.ts";

export interface ScalingContext {
  readonly replica: Replica;
  readonly sequencer: Pick<Sequencer, "propose">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reachable: (node: NodeId) => boolean;
  readonly promised: (node: NodeId) => boolean;
  readonly readings: Readings;
  /** The agent has said that the attempt answers its probe. Absent: agents are not heard here, and time alone tells. */
  readonly probed?: (node: NodeId, allocation: AllocationId, attempt: Attempt) => boolean;
  readonly metrics: Pick<Metrics, "scaled" | "metricQueryFailed">;
}

/** One turn; call it again and again. */
export function createScaler(context: ScalingContext, signal: AbortSignal): () => Promise<void> {
  const { replica, sequencer, clock, logger, reachable, promised, metrics } = context;
  const probed = (node: NodeId, { id }: Allocation, attempt: number): boolean =>
    context.probed?.(node, id, attempt as Attempt) === true;
  let memory: ScalingMemory = new Map();
  return async () => {
    const ground = { view: replica.view, reachable, promised };
    const asked = toBeRead({ ...ground, now: steadyNow(clock), today: clock.now(), memory });
    const values = await context.readings.read(asked, signal);
    for (const { id, spec } of asked) {
      if (values.get(id) !== undefined) continue;
      metrics.metricQueryFailed();
      // Once; after some more looks the user gets a notice.
      const first = (memory.get(id)?.blind ?? 0) === 0;
      const metric = spec.lifecycle.scale?.metric;
      if (first) logger.warn({ allocation: id, metric }, "the metric of a service has no value; it is not scaled");
    }
    const inputs = { ...ground, now: steadyNow(clock), today: clock.now(), memory };
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
      if (accepted) logger.info(facts, "a service changed its size");
      else logger.warn({ ...facts, refusal: outcome.refusal }, "a service could not change its size");
      const record = replica.view.allocation(allocation);
      const cooldown = record?.spec.lifecycle.scale?.cooldown ?? 0;
      next.set(allocation, afterOutcome(next.get(allocation) ?? UNWATCHED, accepted, steadyNow(clock), cooldown));
    }
  };
}
