// Plans with one placement and every detail of it open, and readers for refusals, stop orders and events.

import { type Applied, attempt, type Command, type Event, logIndex, type Outcome, type Refusal } from "@lattice/core";
import { type Cluster, id, nodeId, vclusterId } from "./cluster.ts";

export interface PlacingOptions {
  readonly vcluster?: string;
  readonly basis?: number;
  /** Number of the attempt. Default: the next one. */
  readonly attempt?: number;
  readonly shared?: boolean;
  readonly behind?: boolean;
}

/** Returns a plan that places allocation `n` on the named nodes. */
export function placing(
  c: Cluster,
  n: number | string,
  nodes: readonly string[],
  options: PlacingOptions = {},
): Extract<Command, { kind: "plan.commit" }> {
  const record = c.state.allocation(id(n));
  return {
    kind: "plan.commit",
    vcluster:
      options.vcluster === undefined ? (record?.spec.vcluster ?? vclusterId("batch")) : vclusterId(options.vcluster),
    basis: logIndex(options.basis ?? c.state.index),
    placements: [
      {
        allocation: id(n),
        attempt: attempt(options.attempt ?? (record?.attempt ?? 0) + 1),
        nodes: nodes.map(nodeId),
        scores: { total: 500 },
        backfilled: false,
        ...(options.shared === true ? { shared: true as const } : {}),
        ...(options.behind === true ? { behind: true as const } : {}),
      },
    ],
  };
}

/** Places allocation `n` and returns the refusal, or null when it was placed. */
export function refusalOfPlacing(
  c: Cluster,
  n: number | string,
  nodes: readonly string[],
  options: PlacingOptions = {},
): Refusal | null {
  return refusalIn(c.apply(placing(c, n, nodes, options)));
}

/** Returns the refusal of the first placement of a committed plan. */
export function refusalIn(applied: Applied): Refusal | null {
  const [outcome] = applied.outcomes;
  if (outcome?.kind !== "accepted") throw new Error("the plan as a whole was rejected");
  return outcome.placements?.[0]?.refusal ?? null;
}

/** Returns the refusal of a rejected command; throws when it was accepted. */
export function rejectionOf(outcome: Outcome | undefined): Refusal {
  if (outcome?.kind !== "rejected") throw new Error(`the command was not rejected: ${JSON.stringify(outcome)}`);
  return outcome.refusal;
}

/** Returns the names of the fields that a rejection complains about. */
export const fieldsOf = (outcome: Outcome | undefined): readonly string[] =>
  (rejectionOf(outcome).fields ?? []).map(({ field }) => field);

/** Returns stop orders as "1/1 on n2: cancelled". */
export const stops = (applied: Applied): readonly string[] =>
  applied.effects.flatMap((effect) =>
    effect.kind === "stop" ? [`${effect.allocation}/${effect.attempt} on ${effect.node}: ${effect.reason}`] : [],
  );

/** Returns the events of one kind. */
export const eventsOf = (applied: Applied, kind: Event["kind"]): readonly Event[] =>
  applied.events.filter((event) => event.kind === kind);
