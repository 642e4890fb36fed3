// The Prometheus metrics of a real agent, which change with its work.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1, agentArgs: ["--metrics-listen", `${HOST}:0`] });

/** The address that the newest agent process serves them on. */
const address = (): string =>
  [...readFileSync(cluster.agent("node-1").logFile, "utf8").matchAll(/"metrics":"([\d.]+:\d+)"/g)].at(-1)?.[1] ?? "";

const page = async (): Promise<string> => (await fetch(`http://${address()}/metrics`)).text();

async function figure(series: string): Promise<number> {
  const line = (await page()).split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

const NODE = 'node_id="node-1"';

test("agent metrics count starts, ends, heartbeats and current attempts", async () => {
  const good = await cluster.submit({ entrypoint: "true" });
  const bad = await cluster.submit({ entrypoint: "exit 3" });
  const long = await cluster.submit({ entrypoint: "sleep 600" });
  await cluster.reaches(good, ["completed"]);
  await cluster.reaches(bad, ["failed"]);
  await cluster.reaches(long, ["running"]);
  await eventually({ what: "all three are in the figures" }, async () =>
    (await figure(`lattice_agent_allocation_startup_seconds_count{${NODE}}`)) === 3 ? true : null,
  );
  const text = await page();
  const has = (line: string) => expect(text.split("\n")).toContain(line);
  has("# TYPE lattice_agent_allocation_startup_seconds histogram");
  has(`lattice_agent_attempts_ended_total{${NODE},result="completed"} 1`);
  has(`lattice_agent_attempts_ended_total{${NODE},result="exit_code"} 1`);
  has(`lattice_agent_attempts{${NODE},state="running"} 1`);
  has(`lattice_agent_connected{${NODE}} 1`);
  has(`lattice_agent_connections_total{${NODE}} 1`);
  has(`lattice_agent_faults{${NODE}} 0`);
  // The first heartbeat of a stream is answered and therefore measured.
  expect(await figure(`lattice_agent_heartbeat_latency_seconds_count{${NODE}}`)).toBeGreaterThan(0);
  expect(await figure(`lattice_agent_heartbeat_latency_seconds_sum{${NODE}}`)).toBeGreaterThan(0);
  expect(await figure(`lattice_agent_last_heartbeat_timestamp{${NODE}}`)).toBeGreaterThan(Date.now() / 1000 - 600);
  expect(await figure(`process_resident_memory_bytes{${NODE}}`)).toBeGreaterThan(20e6);
  expect(await figure(`lattice_agent_cache_size_bytes{${NODE}}`)).toBeGreaterThan(0);
  // No unmeasured values, and no names of users.
  expect(text).not.toMatch(/ebpf|NaN|undefined/);

  await cluster.cli(["cancel", long]);
  await eventually({ what: "the last one is gone" }, async () =>
    (await figure(`lattice_agent_attempts_ended_total{${NODE},result="stopped"}`)) === 1 ? true : null,
  );
});

test("agent metrics show a lost connection and count the reconnect", async () => {
  await cluster.server.kill();
  await eventually({ what: "it is not connected" }, async () =>
    (await figure(`lattice_agent_connected{${NODE}}`)) === 0 ? true : null,
  );
  await cluster.startServer();
  await eventually({ what: "it is connected again" }, async () =>
    (await figure(`lattice_agent_connected{${NODE}}`)) === 1 ? true : null,
  );
  expect(await figure(`lattice_agent_connections_total{${NODE}}`)).toBeGreaterThan(1);
});

test("an agent does not start when its requested metrics port is taken, and names the port", async () => {
  const taken = address();
  await cluster.agent("node-1").stop();
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(Number(taken.split(":")[1]), HOST, resolve));
  try {
    const agent = cluster.startAgent("node-1", ["--metrics-listen", taken]);
    expect(await agent.ended).toBe(1);
    expect(readFileSync(agent.logFile, "utf8")).toContain(`cannot serve metrics on ${taken}`);
  } finally {
    squatter.close();
  }
  cluster.startAgent("node-1");
  await cluster.nodesReady();
});
