// A real service that scales by its own queue depth, shrinks again, is updated node by node, and restarts with a
// backoff when its program fails.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 3, config: "node_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 20s }\n" });

type Service = Awaited<ReturnType<typeof cluster.allocation>> & {
  readonly progress?: readonly { readonly state: string }[];
  readonly scaling?: { readonly outdated_nodes?: number };
};

test("a service scales by its own metric and is updated without a gap", async () => {
  const depth = cluster.file("depth");
  const served = cluster.file("served");
  writeFileSync(depth, "queue_depth 70\n");
  const id = await cluster.submit({
    name: "inference",
    entrypoint: `echo "v1 $LATTICE_NODE" >> ${served}; while :; do cp ${depth} $LATTICE_METRICS_FILE; sleep 0.3; done`,
    expose: [{ name: "api", port: 8080 }],
    reactive: true,
    scale_policy: {
      min: 1,
      max: 2,
      metric: "queue_depth",
      target: "100",
      evaluation_interval_seconds: 1,
      scale_up_window_seconds: 1,
      scale_down_window_seconds: 1,
      cooldown_seconds: 1,
    },
  });
  const size = async (count: number) =>
    eventually({ what: `it runs on ${count} nodes` }, async () => {
      const record = (await cluster.allocation(id)) as Service;
      const all = (record.progress ?? []).every(({ state }) => state === "running");
      return record.state === "running" && record.nodes?.length === count && all ? record : null;
    });
  await size(1);
  writeFileSync(depth, "queue_depth 500\n");
  await size(2);
  const endpoints = async () =>
    (await cluster.api<{ endpoints?: unknown[] }>("GET", "/services/api")).body.endpoints?.length;
  expect(await endpoints()).toBe(2);

  writeFileSync(depth, "queue_depth 1\n");
  await size(1);
  expect(await endpoints()).toBe(1);
  const verbose = (await cluster.cli(["status", id, "--verbose"])).stdout;
  expect(verbose).toMatch(/was added; now 2 nodes \(queue_depth 500 is above 100\)/);
  expect(verbose).toMatch(/was released; now 1 node \(queue_depth 1 is below 50\)/);

  // Between target and threshold: only the update changes it now.
  writeFileSync(depth, "queue_depth 70\n");
  const entrypoint = `echo "v2 $LATTICE_NODE" >> ${served}; while :; do cp ${depth} $LATTICE_METRICS_FILE; sleep 0.3; done`;
  const updated = await cluster.cli(["update", id, `--entrypoint=${entrypoint}`]);
  expect(updated.stdout).toMatch(/1 of its nodes are being replaced/);
  await eventually({ what: "the new program runs alone" }, async () => {
    const { scaling, nodes } = (await cluster.allocation(id)) as Service;
    return nodes?.length === 1 && (scaling?.outdated_nodes ?? 0) === 0 ? true : null;
  });
  const events = (await cluster.api<{ events: { kind: string }[] }>("GET", `/allocations/${id}/events?types=scaling`))
    .body;
  expect(events.events.map(({ kind }) => kind)).toEqual(["scaled_up", "scaled_down", "scaled_up", "scaled_down"]);
  // They joined; nothing restarted.
  expect(await cluster.allocation(id)).toMatchObject({ requeues: 0, attempt: 3, nodes_joined: 2 });
  await cluster.cli(["cancel", id]);
});

test("a failing service restarts after a backoff that its status shows", async () => {
  const id = await cluster.submit({ entrypoint: "exit 4", lifecycle: { type: "unbounded", max_requeue: 3 } });
  const waiting = await eventually({ what: "it waits for its restart" }, async () => {
    const record = await cluster.allocation(id);
    // The backoff grows, so that one is visible on any machine.
    return record.state === "pending" && (record.attempt ?? 0) > 0 && record.pending_reasons?.[0] !== undefined
      ? record
      : null;
  });
  expect(waiting.pending_reasons?.[0]).toMatch(/has failed before: it restarts in \d+ s at the latest/);
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "requeue_limit", attempt: 4 });
  const kinds = (await cluster.api<{ events: { kind: string }[] }>("GET", `/allocations/${id}/events`)).body.events;
  expect(kinds.map(({ kind }) => kind)).toContain("attempt_failed");
});
