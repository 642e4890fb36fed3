// A fabric manager for network domains: it knows the nodes of a domain before anything runs there and forgets the
// domain before its VNI is reused. It fails, loses its memory and returns; nothing starts without it, and everything
// recovers.
import { afterAll, expect, test } from "vitest";
import { startFakeManager } from "../doubles/fabric.ts";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const fabric = await startFakeManager();
afterAll(() => fabric.close());
const cluster = useCluster({
  nodes: 3,
  config: [
    `fabric: { manager_url: "${fabric.url}", timeout: 1s, owner: test }`,
    "network: { driver: fabric_manager, grace_period: 1s, vni_pool_start: 5000, vni_pool_end: 5003 }",
    "",
  ].join("\n"),
});

const networks = async () => (await fabric.networks()).vnis;
const until = (what: string, look: () => Promise<boolean>): Promise<true> =>
  eventually({ what }, async () => ((await look()) ? true : null));

test("the fabric manager knows a domain's nodes before the start and forgets the domain before its VNI is free", async () => {
  const seen = cluster.file("seen");
  const asks = `curl -s ${fabric.url}/vnis > ${seen}; sleep 600`;
  const first = await cluster.submit({ entrypoint: asks, network_domain: "blue", nodes: 1, walltime: "1h" });
  const { nodes = [] } = await cluster.reaches(first, ["running"]);
  expect(await networks()).toMatchObject([{ vni: 5000, owner: "test", tenant: "default", name: "blue", nodes }]);
  const second = await cluster.submit({ command: ["/bin/sleep", "600"], network_domain: "blue", walltime: "1h" });
  await cluster.reaches(second, ["running"]);
  expect((await networks())[0]?.nodes).toHaveLength(2);
  const listed = await cluster.cli(["admin", "network", "list"]);
  expect(listed.stdout).toMatch(/default +blue +5000 +active .* ready/);
  await cluster.cli(["cancel", first]);
  await until("one node is left", async () => (await networks())[0]?.nodes.length === 1);
  await cluster.cli(["cancel", second]);
  await until("the number is free", async () => (await networks()).length === 0);
  const { calls } = await fabric.networks();
  expect(calls.some((call) => call.startsWith("DELETE /fabric/vnis/5000"))).toBe(true);
});

test("while the fabric manager is away no attempt starts in a domain, with a visible reason, and starts resume afterwards", async () => {
  const settled = await cluster.submit({ command: ["/bin/sleep", "600"], network_domain: "red", walltime: "1h" });
  await cluster.reaches(settled, ["running"]);
  await fabric.faults([
    { call: "PUT vni", times: 1_000, status: 503 },
    { call: "GET vni", times: 1_000, kind: "cut" },
  ]);
  const waiting = await cluster.submit({ entrypoint: "true", network_domain: "green", walltime: "1h" });
  await cluster.reaches(waiting, ["staging"]);
  await until("the notice is raised", async () =>
    (await cluster.cli(["notices", "--all"])).stdout.includes("it answers 503"),
  );
  const plain = await cluster.submit({ entrypoint: "true", walltime: "10m" });
  expect(await cluster.ends(plain)).toMatchObject({ state: "completed" });
  expect(await cluster.allocation(waiting)).toMatchObject({ state: "staging" });
  expect(await cluster.allocation(settled)).toMatchObject({ state: "running" });
  const listed = await cluster.cli(["admin", "network", "list"]);
  expect(listed.stdout).toMatch(/default +green .* waiting \(it answers 503\)/);
  expect((await cluster.cli(["status", waiting, "--verbose"])).stdout).toContain("waits for the fabric manager");
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toContain('lattice_notices_active{kind="fabric_unavailable"} 1');
  expect(metrics).toMatch(/lattice_fabric_requests_total\{operation="domain_put",result="failed"\} [1-9]/);

  await cluster.server.kill();
  await cluster.startServer();
  await fabric.faults([]);
  expect(await cluster.ends(waiting)).toMatchObject({ state: "completed", attempt: 1 });
  await until("that is over", async () => !(await cluster.cli(["notices"])).stdout.includes("it answers 503"));
  await cluster.cli(["cancel", settled]);
  await until("all are forgotten", async () => (await networks()).length === 0);
});

test("the next leader restores domains that the fabric manager lost and deletes unknown ones", async () => {
  const id = await cluster.submit({ command: ["/bin/sleep", "600"], network_domain: "blue", walltime: "1h" });
  await cluster.reaches(id, ["running"]);
  const before = await networks();
  await fabric.forget();
  await fabric.plant({ vni: 5002, owner: "test", nodes: ["node-9"] });
  await fabric.plant({ vni: 5003, owner: "another", nodes: ["node-9"] });
  await cluster.server.kill();
  await cluster.startServer();
  await until("it is as it should be", async () => {
    const now = await networks();
    return now.some(({ vni }) => vni === before[0]?.vni) && !now.some(({ vni }) => vni === 5002);
  });
  expect((await networks()).map(({ vni }) => vni)).toContain(5003);
  expect((await cluster.allocation(id)).state).toBe("running");
  await cluster.cli(["cancel", id]);
});
