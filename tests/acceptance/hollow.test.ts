// Many nodes in one agent process: everything but the processes is real.
import { expect, test } from "vitest";
import { useCluster } from "../harness/use-cluster.ts";

const NODES = 50;
const JOBS = 100;
const cluster = useCluster({ nodes: 0, config: "node_agent:\n  heartbeat_interval: 1s\n  heartbeat_timeout: 30s\n" });

test(`${NODES} hollow nodes are ready and run ${JOBS} jobs`, async () => {
  const agent = cluster.startHollow(NODES);
  await cluster.hollowReady(NODES);
  const ready = (await cluster.cli(["nodes"])).stdout.split("\n").filter((line) => /^hollow-\d+\s+Ready/.test(line));
  expect(ready).toHaveLength(NODES);

  const ids = await Promise.all(
    Array.from({ length: JOBS }, (_, n) => cluster.submit({ entrypoint: "true", nodes: 1 + (n % 4) })),
  );
  const used = new Set<string>();
  for (const [n, id] of ids.entries()) {
    const record = await cluster.ends(id);
    expect(record).toMatchObject({ state: "completed", attempt: 1 });
    expect(record.nodes).toHaveLength(1 + (n % 4));
    for (const node of record.nodes ?? []) used.add(node);
  }
  expect(used.size).toBeGreaterThan(NODES / 2);
  expect(await agent.stop()).toBe(0);
});
