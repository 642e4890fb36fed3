// The outcome of an entry, as text that tests can compare.

import type { Applied, Outcome } from "@lattice/core";

/** The code of a refusal, or "accepted", or "repeated". */
export function verdict(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "missing";
  if (outcome.kind === "rejected") return outcome.refusal.code;
  const refused = outcome.placements?.find((placement) => placement.refusal !== null)?.refusal;
  return refused?.code ?? (outcome.repeated ? "repeated" : "accepted");
}

export const orders = (applied: Applied): readonly string[] =>
  applied.effects.map((effect) => {
    if (effect.kind === "archive") return `archive ${effect.record.id}`;
    if (effect.kind === "archive_audit") return `archive line ${effect.record.n}`;
    if (effect.kind === "restore_audit") return `restore ${effect.records.length} lines`;
    return `${effect.kind} ${effect.allocation}/${effect.attempt} on ${effect.node}`;
  });

export const moves = (applied: Applied): readonly string[] =>
  applied.events
    .filter((event) => event.kind === "allocation_changed" || event.kind === "node_changed")
    .map((event) => `${event.allocation ?? event.node}: ${event.from} > ${event.to}`);
