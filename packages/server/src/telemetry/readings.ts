// Where the metric of a service comes from: the time-series store when one is configured; without one, or when it has no value, what the
// agents of its nodes have measured and its programs have said. A value that cannot be had is missing, never guessed.

import { type Allocation, type AllocationId, attemptOn } from "@lattice/core";
import type { Logger } from "pino";
import type { Measured } from "./measures.ts";
import { queryStore } from "./store-query.ts";

export interface Readings {
  /** What is not there has no value. */
  read(records: readonly Allocation[], signal: AbortSignal): Promise<ReadonlyMap<AllocationId, number>>;
}

export interface ReadingSources {
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
    // A store that is away, or has yet to scrape, must not keep a service from scaling by what is known here.
    const value = fromAgents(record, metric, measured);
    const text =
      value === null ? "a metric could not be read" : "a metric is taken from the agents, not from the store";
    logger.warn({ allocation: record.id, metric, problem: answer.problem }, text);
    return value;
  }
}

const idAt = (records: readonly Allocation[], i: number): AllocationId => (records[i] as Allocation).id;

/** The mean of the nodes that have told; null: none has. */
function fromAgents(record: Allocation, metric: string, measured: Measured): number | null {
  const nodes = "nodes" in record.phase ? record.phase.nodes : [];
  const told = nodes.flatMap((node) => measured(node, record.id, attemptOn(record, node), metric) ?? []);
  return told.length === 0 ? null : told.reduce((sum, value) => sum + value, 0) / told.length;
}
