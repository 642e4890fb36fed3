// Rules for services: they stay within their bounds and quota, scale only when the deciding server saw the metric for
// the whole window and after the cooldown, return to their bounds, and run the newest program after an update.

import {
  type Allocation,
  type AllocationId,
  type Applied,
  type Event,
  isFree,
  isService,
  mostNodes,
  type View,
} from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { MetricStore } from "../external/metrics.ts";
import { programOf } from "../nodes/program.ts";
import type { World } from "../world/world.ts";
import type { Watcher } from "./watcher.ts";

/** Time from a reading to the entry that it caused. */
const MAX_LATE_MS = 30_000;
/**
 * How long a service may be below its minimum while nodes are free, or above its maximum, including elections and
 * refusals.
 */
const MAX_ASTRAY_MS = 240_000;

export function serviceChecks(world: World, metrics: MetricStore): Watcher {
  const counts = {
    scaledUp: 0,
    scaledDown: 0,
    refilled: 0,
    shed: 0,
    lowered: 0,
    renewals: 0,
    renewed: 0,
    probesFailed: 0,
  };
  /** In log order: attempts above `through` run this version of the program or a later one. */
  const updates = new Map<AllocationId, { readonly through: number; readonly version: number }[]>();
  const renewing = new Set<AllocationId>();
  const changedAt = new Map<AllocationId, number>();
  const astraySince = new Map<AllocationId, number>();

  function scaled({ view }: Replica, record: Allocation, event: Event, { at, events }: Applied): void {
    const { reason, message = "" } = event;
    const { id, phase, spec, renewal } = record;
    const size = "nodes" in phase ? phase.nodes.length : 0;
    const up = reason === "scaled_up";
    const byMetric = /^load (\S+) is (?:above|below) /.exec(message);
    if (byMetric !== null) metricSays(record, up, Number(byMetric[1]), at);
    if (byMetric !== null) counts[up ? "scaledUp" : "scaledDown"] += 1;
    else if (up && / of at least /.test(message)) counts.refilled += 1;
    else if (!up && / of at most /.test(message)) counts.lowered += 1;
    else if (!up && !/before the update$/.test(message)) counts.shed += 1;
    if (!up) return;
    // An entry contains many commands; the check sees the state after the last one.
    const later = events.slice(events.indexOf(event) + 1);
    if (
      later.some(
        ({ allocation, tenant, kind }) => allocation === id || (kind === "tenant_changed" && tenant === spec.tenant),
      )
    )
      return;
    const most = mostNodes(record) + (renewal !== undefined && /before the update$/.test(message) ? 1 : 0);
    if (size > most) world.violated("scaling", `service ${id} has grown to ${size} nodes of ${most}`);
    const { maxNodes } = view.tenant(spec.tenant)?.quota ?? { maxNodes: null };
    const { nodes } = view.usage(spec.tenant);
    if (maxNodes !== null && nodes > maxNodes)
      world.violated("S2", `service ${id} has grown: tenant ${spec.tenant} has ${nodes} nodes of ${maxNodes}`);
  }

  /** Without a metric there is no scaling: the deciding server must have seen a value throughout the window. */
  function metricSays({ id, spec, phase }: Allocation, up: boolean, value: number, at: number): void {
    const { scale } = spec.lifecycle;
    if (scale === undefined) return;
    const target = scale.targetMilli / 1_000;
    const low = (target * scale.downThresholdMilli) / 1_000;
    const windowMs = up ? scale.upWindow : scale.downWindow;
    const readings = metrics.given(id);
    const agrees = (one: number | null): boolean => one !== null && (up ? one > target : one < low);
    const hasSeen = readings.some((last) => {
      if (last.value === null || Math.abs(last.value - value) > 0.001) return false;
      if (last.atMs < world.now() - MAX_LATE_MS) return false;
      const window = readings.filter(
        ({ by, atMs }) => by === last.by && atMs <= last.atMs && atMs >= last.atMs - windowMs,
      );
      return window.every((one) => agrees(one.value));
    });
    if (!hasSeen)
      world.violated("scaling", `service ${id} is scaled by a metric of ${value} that the leader did not see`);
    const before = changedAt.get(id);
    if (before !== undefined && at - before < scale.cooldown)
      world.violated("scaling", `service ${id} is scaled ${at - before} ms after it was, before ${scale.cooldown} ms`);
    changedAt.set(id, at);
    const size = "nodes" in phase ? phase.nodes.length : 0;
    if (!up && size < scale.minNodes) world.violated("scaling", `service ${id} has shrunk to ${size} nodes`);
  }

  function updated({ id, attempt, spec, renewal }: Allocation): void {
    const line = spec.task.kind === "entrypoint" ? spec.task.line : "";
    const { version = 0 } = programOf(line);
    const list = updates.get(id) ?? [];
    updates.set(id, list);
    if (list.at(-1)?.version === version) return;
    list.push({ through: attempt, version });
    if (renewal !== undefined) counts.renewals += 1;
    if (renewal !== undefined) renewing.add(id);
  }

  function requeued({ past }: Allocation): void {
    if (past?.attempts.at(-1)?.failure?.reason === "probe_failed") counts.probesFailed += 1;
  }

  /** Within its bounds, as far as nodes are available. */
  function astray(view: View, record: Allocation): boolean {
    const { phase, spec } = record;
    if (phase.kind !== "running" || spec.lifecycle.kind !== "reactive" || renewing.has(record.id)) return false;
    const size = phase.nodes.length;
    if (size > mostNodes(record)) return true;
    if (size >= spec.resources.minNodes) return false;
    const { maxNodes } = view.tenant(spec.tenant)?.quota ?? { maxNodes: null };
    if (maxNodes !== null && view.usage(spec.tenant).nodes >= maxNodes) return false;
    // Free nodes are reserved for pending work, if there is any.
    for (const other of view.allocations()) if (other.phase.kind === "pending") return false;
    return Array.from(view.nodes()).some((node) => isFree(node) && node.homeVCluster === null);
  }

  return {
    counts,
    leastPerHour: { scaledUp: 4, scaledDown: 1, refilled: 1, renewals: 8, renewed: 3, probesFailed: 3 },
    applied(replica: Replica, applied: Applied) {
      for (const event of applied.events) {
        if (event.kind !== "allocation_changed" || event.allocation === undefined) continue;
        const record = replica.view.allocation(event.allocation);
        if (record === undefined || !isService(record.spec.lifecycle)) continue;
        if (event.reason === "scaled_up" || event.reason === "scaled_down") scaled(replica, record, event, applied);
        if (event.reason === "updated") updated(record);
        if (event.to === "pending" && event.from === "running") requeued(record);
        if (renewing.has(record.id) && isRenewed(record)) {
          renewing.delete(record.id);
          counts.renewed += 1;
        }
      }
    },
    started(_, { key, order }) {
      const [id = "", attempt = "0"] = key.split(".");
      const { version = 0 } = programOf(order.entrypoint);
      const wanted = updates.get(id as AllocationId) ?? [];
      const runs = wanted.findLastIndex((update) => update.version === version);
      const due = wanted.findLastIndex(({ through }) => Number(attempt) > through);
      if (runs < due)
        world.violated(
          "renewal",
          `${key} runs version ${version}, started after ${wanted[due]?.version} was requested`,
        );
    },
    look(view) {
      for (const record of view.placed()) {
        const { id } = record;
        if (!astray(view, record)) {
          astraySince.delete(id);
          continue;
        }
        const since = astraySince.get(id) ?? world.now();
        astraySince.set(id, since);
        if (world.now() - since < MAX_ASTRAY_MS) continue;
        const size = "nodes" in record.phase ? record.phase.nodes.length : 0;
        const bounds = `${record.spec.resources.minNodes} to ${mostNodes(record)}`;
        world.violated("scaling", `service ${id} has ${size} nodes, not ${bounds}, for ${world.now() - since} ms`);
      }
    },
  };
}

/** No attempt runs the previous program. */
function isRenewed({ phase, renewal, attempt }: Allocation): boolean {
  if (renewal === undefined || phase.kind !== "running") return false;
  const attempts = phase.attempts ?? phase.nodes.map(() => attempt);
  return attempts.every((one) => one > renewal.through);
}
