// Metrics of failures: each counted once, by its cause.

import type { Event } from "@lattice/core";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { failureMetrics } from "../../../src/base/observe/failures.ts";

test("requeues, lost nodes and prologues are counted by cause; other moves are not", async () => {
  const registry = new Registry();
  const metrics = failureMetrics(registry);
  const moved = (from: string, to: string, reason: string) =>
    ({ kind: "allocation_changed", from, to, reason }) as Event;
  const node = (from: string, to: string, reason: string) => ({ kind: "node_changed", from, to, reason }) as Event;
  for (const event of [
    moved("running", "pending", "node_failure"),
    moved("staging", "pending", "prologue_failed"),
    moved("suspended", "pending", "preempted"),
    moved("pending", "pending", "released"),
    moved("", "pending", "submitted"),
    node("ready", "down", "silent"),
    node("ready", "down", "quarantined"),
    node("down", "down", "hardware"),
    node("ready", "draining", ""),
  ])
    metrics.failureEvent(event);
  metrics.quotas([
    { tenant: "art", used: 3, most: null },
    { tenant: "physics", used: 2, most: 8 },
  ]);
  const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines.toSorted()).toEqual([
    'lattice_node_losses_total{cause="quarantined"} 1',
    'lattice_node_losses_total{cause="silent"} 1',
    "lattice_nodes_quarantined_total 1",
    "lattice_prologue_retries_total 1",
    'lattice_quota_max_nodes{tenant="physics"} 8',
    'lattice_quota_used_nodes{tenant="art"} 3',
    'lattice_quota_used_nodes{tenant="physics"} 2',
    'lattice_requeues_total{cause="node_failure"} 1',
    'lattice_requeues_total{cause="prologue_failed"} 1',
  ]);
});
