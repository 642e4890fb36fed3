// E10: a reserved start is not delayed by later arrivals of the same or a lower class. Two consecutive cycles of one
// leader are compared: where nothing has changed that may delay the start, the reservation is still there or its owner
// starts.

import type { Allocation, Node, Tenant, VCluster, View } from "@lattice/core";
import type { ObserveCycle } from "@lattice/server";
import type { World } from "../world/world.ts";

export type CycleResult = Parameters<ObserveCycle>[1];

/** The state of the leader that is not in the log. */
interface Moment {
  readonly nowMs: number;
  /** The last result of each vCluster before this cycle; empty for a new leader. */
  readonly before: ReadonlyMap<string, CycleResult>;
  readonly isConnected: (node: Node["id"]) => boolean;
}

export interface ReservationCheck {
  cycle(view: View, result: CycleResult, moment: Moment): void;
  readonly counts: { reservationsKept: number; reservationsDelayed: number };
}

type Reservation = CycleResult["reservations"][number];

/** A reservation with everything that may delay it. */
interface Known {
  readonly reservation: Reservation;
  readonly spec: Allocation["spec"] | undefined;
  readonly phase: string;
  readonly tenant: Tenant["quota"] | undefined;
  readonly vcluster: VCluster | undefined;
  readonly nodes: string;
}

export function reservationCheck(world: World): ReservationCheck {
  const counts = { reservationsKept: 0, reservationsDelayed: 0 };
  const known = new WeakMap<CycleResult, readonly Known[]>();
  return {
    counts,
    cycle(view, result, moment) {
      const { nowMs } = moment;
      const earlier = moment.before.get(result.vcluster);
      for (const one of (earlier === undefined ? undefined : known.get(earlier)) ?? []) {
        const { allocation, startsAt } = one.reservation;
        if (hasStarted(view, result, one.reservation)) continue;
        const next = result.reservations.find((other) => other.allocation === allocation);
        if (next !== undefined && next.startsAt <= Math.max(startsAt, nowMs)) {
          counts.reservationsKept += 1;
          continue;
        }
        counts.reservationsDelayed += 1;
        if (mayBeDelayed(view, one, result, moment)) continue;
        const now = next === undefined ? "it has none now" : `now at ${next.startsAt}`;
        world.violated("E10", `${allocation} was reserved for ${startsAt}, and without a cause ${now}`);
      }
      known.set(
        result,
        result.reservations.map((reservation) => knownOf(view, result, reservation)),
      );
    },
  };
}

/** Started, or starts as soon as the work that it preempts has stopped. */
const hasStarted = (view: View, { placements, preemptions }: CycleResult, { allocation }: Reservation): boolean =>
  view.allocation(allocation)?.phase.kind !== "pending" ||
  [...placements, ...preemptions].some((one) => one.allocation === allocation);

function knownOf(view: View, { vcluster }: CycleResult, reservation: Reservation): Known {
  const owner = view.allocation(reservation.allocation);
  const spec = owner?.spec;
  return {
    reservation,
    spec,
    phase: JSON.stringify(owner?.phase),
    tenant: spec === undefined ? undefined : view.tenant(spec.tenant)?.quota,
    vcluster: view.vcluster(vcluster),
    nodes: JSON.stringify(reservation.nodes.map((node) => view.node(node)).map(conditionOf)),
  };
}

const conditionOf = (node: Node | undefined) =>
  node === undefined ? null : [node.state, node.claims, node.homeVCluster, node.capabilities, node.conformance];

/** Its home vCluster takes a lent node back when it has work of its own. */
const isBorrowed = (node: Node | undefined, { vcluster }: CycleResult): boolean =>
  node !== undefined && node.homeVCluster !== null && node.homeVCluster !== vcluster;

/** Whether work on the node ends too late for the start, is overdue, or is being ended without a known time. */
function isReleasedLate(view: View, node: Node | undefined, startsAt: number, nowMs: number): boolean {
  for (const claim of node?.claims ?? []) {
    const occupant = view.allocation(claim.allocation);
    const walltime = occupant?.spec.lifecycle.walltime ?? null;
    if (claim.releasing || occupant?.phase.kind === "checkpointing" || walltime === null) return true;
    const phase = occupant?.phase;
    const from =
      phase?.kind === "running" ? phase.startedAt : phase?.kind === "staging" ? (phase.turnBy ?? phase.placedAt) : null;
    const endsAt = from === null ? nowMs : from + walltime + GRACE_MS;
    if (endsAt <= nowMs || endsAt > startsAt) return true;
  }
  return false;
}

/** After its walltime. */
const GRACE_MS = 30_000;

/** A higher class, a change of the nodes, the request or the limits, or another vCluster on the same nodes. */
function mayBeDelayed(
  view: View,
  { reservation, ...then }: Known,
  result: CycleResult,
  { before, nowMs, isConnected }: Moment,
): boolean {
  const { nodes, startsAt } = reservation;
  if (!nodes.every(isConnected) || nodes.some((node) => isBorrowed(view.node(node), result))) return true;
  if (nodes.some((node) => isReleasedLate(view, view.node(node), startsAt, nowMs))) return true;
  const now = knownOf(view, result, reservation);
  if (now.nodes !== then.nodes || now.spec !== then.spec || now.phase !== then.phase) return true;
  if (now.tenant !== then.tenant || now.vcluster !== then.vcluster) return true;
  const own = then.spec?.lifecycle.preemptionClass ?? 0;
  if (view.highestPendingClass(result.vcluster) > own) return true;
  for (const { spec } of view.awaiting()) if (spec.lifecycle.preemptionClass > own) return true;
  for (const [vcluster, { reservations }] of before) {
    if (vcluster === result.vcluster) continue;
    if (reservations.some((other) => other.nodes.some((node) => nodes.includes(node)))) return true;
  }
  return false;
}
