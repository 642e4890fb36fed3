// Nodes that keep failing work, drift, or are reported broken: each leaves service for its own reason, its work moves,
// and it returns as documented.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({
  nodes: 4,
  config: "faults: { failures_to_quarantine: 2, probation: 1h }\n",
});

interface Shown {
  readonly state: string;
  readonly state_cause?: string;
  readonly state_reason?: string;
}

const node = async (id: string): Promise<Shown> => (await cluster.node(id)) as Shown;
const nodeIs = (id: string, state: string): Promise<true> =>
  eventually({ what: `${id} is ${state}` }, async () => ((await node(id)).state === state ? true : null));
const notices = async (): Promise<string> => (await cluster.cli(["notices", "--all"])).stdout;
const metric = async (line: string): Promise<boolean> =>
  (await (await fetch(`${cluster.apiUrl}/metrics`)).text()).includes(line);

/** Restarts the agent with other flags. */
async function restartAgent(id: string, flags: readonly string[]): Promise<void> {
  await cluster.agent(id).kill();
  cluster.startAgent(id, flags);
  await eventually({ what: `${id} is connected` }, async () => ((await cluster.node(id)).connected ? true : null));
}

test("an external health report takes a node down, its work moves, and a repair report restores it", async () => {
  const id = await cluster.submit({ command: ["/bin/sleep", "600"], walltime: "1h", requeue: "on_node_failure" });
  const [first = ""] = (await cluster.reaches(id, ["running"])).nodes ?? [];
  const reported = [
    "node",
    "report-health",
    first,
    "--status=critical",
    "--component=psu",
    "--message=no power on rail 2",
  ];
  const { stdout, stderr } = await cluster.cli(reported);
  expect(`${stdout}${stderr}`).toContain("Down");
  expect(JSON.stringify(await node(first))).toContain("psu: no power on rail 2");
  expect(await notices()).toContain("psu: no power on rail 2");
  expect(await metric('lattice_notices_active{kind="node_broken"} 1')).toBe(true);
  const again = await eventually({ what: "it runs elsewhere" }, async () => {
    const record = await cluster.allocation(id);
    return record.state === "running" && record.attempt === 2 ? record : null;
  });
  expect(again.requeues).toBe(1);
  expect(again.nodes).not.toContain(first);
  expect((await cluster.cli(["status", id, "--verbose"])).stdout).toContain("psu: no power on rail 2");
  expect((await cluster.cli(["node", "report-health", "nowhere", "--status=ok"])).code).not.toBe(0);
  expect((await cluster.cli(["node", "report-health", first, "--status=tired"])).stderr).toContain("critical");
  // Heartbeats continue, and do not bring it back.
  await sleep(1_500);
  expect((await node(first)).state).toBe("down");
  await cluster.cli(["node", "report-health", first, "--status=ok", "--component=psu"]);
  await nodeIs(first, "ready");
  expect(await metric('lattice_notices_active{kind="node_broken"}')).toBe(false);
  await cluster.cli(["cancel", id]);
  expect(await metric('lattice_node_losses_total{cause="hardware"} 1')).toBe(true);
  expect(await metric('lattice_requeues_total{cause="node_failure"} 1')).toBe(true);

  // A warning takes nothing down, and stays until an ok report.
  const warning = ["--status=warning", "--component=dimm3", "--message=corrected errors increase"];
  await cluster.cli(["node", "report-health", first, ...warning]);
  expect(await node(first)).toMatchObject({ state: "ready", hardware_warning: "dimm3: corrected errors increase" });
  expect((await cluster.cli(["nodes", first])).stdout).toMatch(/Warning:? +dimm3: corrected errors increase/);
  await cluster.cli(["node", "report-health", first, "--status=ok", "--component=dimm3"]);
  expect(JSON.stringify(await node(first))).not.toContain("dimm3");
});

test("work that cannot start anywhere is tried on other nodes and quarantines none of them", async () => {
  const lost = await cluster.submit({ entrypoint: "true", walltime: "10m", workdir: "/no/such/folder" });
  const end = await cluster.ends(lost);
  expect(end).toMatchObject({ state: "failed", reason: "prologue_failed", attempt: 4, requeues: 0 });
  expect(end.message).toContain("tried on 4 nodes");
  for (let n = 1; n <= 4; n += 1) expect((await node(`node-${n}`)).state).toBe("ready");
});

test("a node that keeps failing work is quarantined, tried on probation, and stays in service when it works", async () => {
  const users = cluster.file("users");
  writeFileSync(users, "other 12345 12345\n");
  await restartAgent("node-4", [`--user-mapping=file:${users}`, "--allow-unauthenticated"]);
  const there = { entrypoint: "true", walltime: "10m", required_nodes: ["node-4"] };
  const failTwice = async (): Promise<void> => {
    for (let n = 0; n < 2; n += 1) {
      const end = await cluster.ends(await cluster.submit(there));
      expect(end).toMatchObject({ state: "failed", reason: "prologue_failed" });
    }
    await nodeIs("node-4", "down");
  };
  await failTwice();
  expect(JSON.stringify(await node("node-4"))).toContain("2 allocations in a row could not be run on it");
  expect(await metric('lattice_notices_active{kind="node_quarantined"} 1')).toBe(true);
  const elsewhere = await Promise.all([1, 2, 3].map(() => cluster.submit({ entrypoint: "true", walltime: "10m" })));
  for (const id of elsewhere) expect((await cluster.ends(id)).nodes).not.toContain("node-4");
  expect(await notices()).toContain('node "node-4" was quarantined');
  await cluster.cli(["node", "enable", "node-4"]);
  await nodeIs("node-4", "ready");

  // Long enough for a slow machine. One failure on probation is enough.
  expect(await cluster.cli(["admin", "config", "set", "faults.probation=10s"])).toMatchObject({ code: 0 });
  await failTwice();
  await nodeIs("node-4", "ready");
  await cluster.ends(await cluster.submit(there));
  await nodeIs("node-4", "down");
  await restartAgent("node-4", []);
  await nodeIs("node-4", "ready");
  expect(await cluster.ends(await cluster.submit(there))).toMatchObject({ state: "completed" });
  await sleep(1_500);
  expect((await node("node-4")).state).toBe("ready");
  expect(await metric('lattice_notices_active{kind="node_quarantined"}')).toBe(false);
});

test("a drifted node raises a notice, is used last, and is quarantined after the remediation timeout", async () => {
  await restartAgent("node-3", ["--base-image", "sha256:other"]);
  await eventually({ what: "the notice is raised" }, async () =>
    (await notices()).includes('node "node-3" has drifted') ? true : null,
  );
  expect((await node("node-3")).state).toBe("ready");
  for (let n = 0; n < 3; n += 1) {
    const end = await cluster.ends(await cluster.submit({ entrypoint: "true", walltime: "10m" }));
    expect(end.nodes).not.toContain("node-3");
  }
  const bad = await cluster.cli(["admin", "config", "set", "faults.drift_remediation_timeout=soon"]);
  expect(bad.code).not.toBe(0);
  await cluster.cli(["admin", "config", "set", "faults.drift_remediation_timeout=1s"]);
  await nodeIs("node-3", "down");
  expect(JSON.stringify(await node("node-3"))).toContain("was not repaired in time");
  await cluster.cli(["admin", "config", "reset", "faults.drift_remediation_timeout"]);
  await restartAgent("node-3", []);
  await cluster.cli(["node", "enable", "node-3"]);
  await nodeIs("node-3", "ready");
});

test("a drifted sensitive node is drained and audited until an administrator undrains it", async () => {
  await cluster.cli(["admin", "vcluster", "create", "clinic", "--scheduler=sensitive-reservation"]);
  const home = ["--home-vcluster", "clinic"];
  await restartAgent("node-2", home);
  await nodeIs("node-2", "ready");
  await restartAgent("node-2", [...home, "--base-image", "sha256:other"]);
  await nodeIs("node-2", "drained");
  expect(JSON.stringify(await node("node-2"))).toContain("conformance_drift: expected=");
  await restartAgent("node-2", home);
  await eventually({ what: "its drift is over" }, async () =>
    (await cluster.api("GET", "/audit?scope=sensitive")).text.includes("as expected again") ? true : null,
  );
  expect((await cluster.api("GET", "/audit?scope=sensitive")).text).toContain("node.drift");
  expect((await node("node-2")).state).toBe("drained");
  await cluster.cli(["node", "undrain", "node-2"]);
  await nodeIs("node-2", "ready");
});
