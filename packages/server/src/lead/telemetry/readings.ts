// Reads the metric of a service: from the time-series store when one is configured; without one, or without a value
// there, from the agents of its nodes. A missing value stays missing; it is never guessed.

import { type Allocation, type AllocationId, attemptOn } from "@lattice/core";
import type { Logger } from "pino";
import type { Measured } from "./measures.ts";
import { queryStore } from "./store-query.ts";

export interface Readings {
  /** A missing metric has no value. */
  read(records: readonly Allocation[], signal: AbortSignal): Promise<ReadonlyMap<AllocationId, number>>;
}

interface ReadingSources {
  readonly storeUrl: string | null;
  readonly measured: Measured;
  readonly logger: Logger;
}

export function createReadings({ storeUrl, measured, logger }: ReadingSources): Readings {
  return {
    async read(records, signal) {
      const values = await Promise.all(records.map((record) => readingOf(record, signal)));
      return new Map(values.flatMap((value, i) => (value === null ? [] : [[idAt(records, i), value] as const])));
    },
  };

  async function readingOf(record: Allocation, signal: AbortSignal): Promise<number | null> {
    const metric = record.spec.lifecycle.scale?.metric ?? "";
    if (storeUrl === null) return fromAgents(record, metric, measured);
    const nodes = "nodes" in record.phase ? record.phase.nodes : [];
    const answer = await queryStore(storeUrl, { metric, allocation: record.id, nodes }, signal);
    if ("value" in answer) return answer.value;
    // An unavailable store must not stop scaling by locally known values.
    const value = fromAgents(record, metric, measured);
    const text =
      value === null ? "service metric not read" : "service metric read from the agents: the store has no value";
    logger.warn({ allocation: record.id, metric, problem: answer.problem }, text);
    return value;
  }
}

const idAt = (records: readonly Allocation[], i: number): AllocationId => (records[i] as Allocation).id;

/** Returns the mean over the nodes that reported; `null` when none did. */
function fromAgents(record: Allocation, metric: string, measured: Measured): number | null {
  const nodes = "nodes" in record.phase ? record.phase.nodes : [];
  const values = nodes.flatMap((node) => measured(node, record.id, attemptOn(record, node), metric) ?? []);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
