// promtool accepts the metrics pages of a server and an agent that have worked, and the alert rules, without a complaint.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({
  nodes: 1,
  // With a store, the page also has the figures of services.
  config: `telemetry: { store_url: "http://${HOST}:9" }\nnode_agent: { heartbeat_interval: 500ms }\n`,
  agentArgs: ["--metrics-listen", `${HOST}:0`],
});

const agentAddress = (): string =>
  [...readFileSync(cluster.agent("node-1").logFile, "utf8").matchAll(/"metrics":"([\d.]+:\d+)"/g)].at(-1)?.[1] ?? "";
const pageAt = async (address: string): Promise<string> => (await fetch(`http://${address}/metrics`)).text();

/** Promtool writes complaints to standard error, and its exit status is 0 for some of them. */
function complaints(words: readonly string[], input = ""): string {
  const { status, stderr, error } = spawnSync("promtool", words, { input, encoding: "utf8" });
  if (error !== undefined) throw error;
  return `${status === 0 ? "" : `exit status ${status}\n`}${stderr}`;
}

test("the pages of a server and an agent follow the rules for metrics", async () => {
  const ended = await cluster.submit({ entrypoint: "true" });
  await cluster.reaches(ended, ["completed"]);
  await cluster.submit({
    entrypoint: "while :; do echo queue_depth 5 > $LATTICE_METRICS_FILE; sleep 0.3; done",
    reactive: true,
    scale_policy: { min: 1, max: 1, metric: "queue_depth", target: "100" },
  });
  const ofServer = await eventually({ what: "the page has the figure of the service" }, async () => {
    const page = await pageAt(cluster.restAddress);
    return page.includes("lattice_allocation_queue_depth") ? page : null;
  });
  const ofAgent = await pageAt(agentAddress());
  for (const [page, family] of [
    [ofServer, "lattice_disk_free_bytes"],
    [ofAgent, "lattice_agent_connected"],
  ] as const) {
    expect(page).toContain(`# TYPE ${family} `);
    expect(complaints(["check", "metrics"], page)).toBe("");
  }
});

test("promtool complains about a page that breaks the rules", () => {
  expect(complaints(["check", "metrics"], "# HELP x_total X.\n# TYPE x_total gauge\nx_total 1\n")).not.toBe("");
});

test("the alert rules are valid", () => {
  expect(complaints(["check", "rules", join(root, "infra/prometheus/alerts.yaml")])).toBe("");
});
