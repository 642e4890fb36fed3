// A transcript: what watchers, nodes and administrators get from one entry, as lines in a fixed order. Tests of
// behaviour over several steps compare these lines.

import type { Applied, Event } from "@lattice/core";
import { verdict } from "./read-applied.ts";

/** Outcomes that are no plain acceptance, then events, then orders. */
export function lines(applied: Applied): readonly string[] {
  const outcomes = applied.outcomes.map(verdict).filter((word) => word !== "accepted");
  return [...outcomes.map((word) => `! ${word}`), ...applied.events.map(eventLine), ...applied.effects.map(orderLine)];
}

function eventLine(event: Event): string {
  const { kind, reason = "" } = event;
  const why = reason === "" ? "" : ` (${reason})`;
  switch (kind) {
    case "allocation_changed":
      return `${event.allocation}: ${event.from || "new"} > ${event.to}${why}`;
    case "node_changed":
      return `${event.node}: ${event.from} > ${event.to}${why}`;
    case "claim_released":
      return `${event.node} released by ${event.allocation}/${event.attempt}`;
    case "dag_changed":
      return `${event.dag}: ${event.from || "new"} > ${event.to}`;
    case "notice_changed":
      return `notice ${event.to}${why}`;
    case "placement_refused":
      return `${event.allocation} not placed${why}`;
    default:
      return `${kind}${why}`;
  }
}

function orderLine(effect: Applied["effects"][number]): string {
  if (effect.kind === "archive") return `> archive ${effect.record.id}`;
  if (effect.kind === "archive_audit" || effect.kind === "restore_audit") return `> ${effect.kind}`;
  const reason = effect.kind === "stop" ? ` (${effect.reason})` : "";
  return `> ${effect.kind} ${effect.allocation}/${effect.attempt} on ${effect.node}${reason}`;
}
