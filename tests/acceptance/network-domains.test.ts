// Network domains on one machine: allocations of one domain reach each other, others do not, and nothing is left
// behind.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

// VNIs that no other cluster on this machine uses at the same time.
const FIRST = 100_000 + (process.pid % 100_000) * 100;
const output = mkdtempSync(join(tmpdir(), "lattice-domains-"));
afterAll(() => rmSync(output, { recursive: true, force: true, maxRetries: 9 }));
const cluster = useCluster({
  nodes: 3,
  agentArgs: ["--network=linux", "--output-dir", output],
  config: `network: { vni_pool_start: ${FIRST}, vni_pool_end: ${FIRST + 1}, grace_period: 1s }\n`,
});

const PORT = 18_999;
const serving = (more: string): string =>
  `exec ${process.execPath} -e 'require("http").createServer((q,r)=>r.end("hello"))${more}.listen(${PORT},"127.0.0.1")'`;
const client = `${process.execPath} -e 'fetch("http://127.0.0.1:${PORT}/").then(r=>r.text()).then(console.log,()=>{console.log("cut off");process.exit(7)})'`;

test("a network domain is reachable only from inside, and its exhausted VNI pool recovers", async () => {
  // Its probe runs inside the domain; the long timeout is for slow machines.
  const liveness_probe = { port: PORT, period_secs: 1, initial_delay_secs: 1, failure_threshold: 60 };
  const probes = cluster.file("probes");
  const server = serving(`.on("connection",()=>require("fs").appendFileSync("${probes}","."))`);
  const service = await cluster.submit({ entrypoint: server, network_domain: "blue", service: true, liveness_probe });
  await cluster.reaches(service, ["running"]);
  const { network } = (await cluster.allocation(service)) as { network?: { domain: string; vni: number } };
  expect(network).toMatchObject({ domain: "blue", vni: FIRST, sensitive: false });

  const inside = await eventually({ what: "it answers inside its domain" }, async () => {
    const id = await cluster.submit({ entrypoint: client, network_domain: "blue" });
    const end = await cluster.ends(id);
    return end.state === "completed" ? id : null;
  });
  expect((await cluster.cli(["logs", inside])).stdout).toContain("hello");

  const go = cluster.file("go");
  const stranger = await cluster.submit({
    entrypoint: `${client}; code=$?; until [ -e ${go} ]; do sleep 0.1; done; exit $code`,
    network_domain: "green",
  });
  await cluster.reaches(stranger, ["running"]);
  const refused = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", network_domain: "red" } });
  expect(refused.body).toMatchObject({ code: "quota_exceeded" });
  expect(JSON.stringify(refused.body)).toContain("VNI pool exhausted (2/2 in use)");
  const lasting = async () => (await cluster.cli(["notices"])).stdout.includes("VNIs of the pool are in use");
  await eventually({ what: "administrators have the notice" }, async () => ((await lasting()) ? true : null));
  writeFileSync(go, "");
  expect(await cluster.ends(stranger)).toMatchObject({ state: "failed", exit_code: 7 });
  const outside = await cluster.submit({ entrypoint: client });
  expect(await cluster.ends(outside)).toMatchObject({ state: "failed", exit_code: 7 });

  const listed = await cluster.cli(["admin", "network", "list"]);
  expect(listed.stdout).toMatch(new RegExp(`default +blue +${FIRST} +active .* ${service}`));
  await eventually({ what: "it was probed" }, () => (statSync(probes).size > 3 ? true : null));
  expect(await cluster.allocation(service)).toMatchObject({ state: "running", attempt: 1 });
  await cluster.cli(["admin", "network", "set-grace", "--domain=blue", "--grace=0s", "--of=default"]);
  await cluster.cli(["cancel", service]);
  await eventually({ what: "nothing is left of the domain" }, async () => {
    const { stdout } = await cluster.cli(["admin", "network", "list", "-o", "json"]);
    return !stdout.includes('"blue"') && !existsSync(`/run/netns/lattice-${FIRST}`) ? true : null;
  });
  await eventually({ what: "the notice is over" }, async () => ((await lasting()) ? null : true));
});

test("an exposed port is reachable at its node and through the API while the service runs", async () => {
  const port = PORT + 1;
  const program = `require("http").createServer((q,r)=>r.end("open")).listen(${port},"127.0.0.1")`;
  const shop = await cluster.submit({
    command: [process.execPath, "-e", program],
    name: "shop",
    network_domain: "market",
    service: true,
    expose: [{ name: "shop", port }],
  });
  await cluster.reaches(shop, ["running"]);
  const answer = await eventually({ what: "it answers by the API" }, async () => {
    const { status, text } = await cluster.api("GET", "/services/shop/proxy/");
    return status === 200 ? text : null;
  });
  expect(answer).toBe("open");
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("open");
  await cluster.cli(["cancel", shop]);
  await eventually({ what: "the port is closed" }, () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => null,
      () => true,
    ),
  );
});

test("a program in a network domain answers checkpoint calls and resumes inside the domain", async () => {
  const [diary, finish] = [cluster.file("steps"), cluster.file("finish")];
  const words = [process.execPath, join(import.meta.dirname, "programs", "count-callback.mjs"), diary, finish];
  const saving = { command: words, network_domain: "blue", checkpoint: "grpc", walltime: "1h", preemption_class: 1 };
  const id = await cluster.submit(saving);
  await cluster.reaches(id, ["running"]);
  expect((await cluster.cli(["checkpoint", "--wait", id])).stdout).toContain("is complete");
  expect(readdirSync(join(output, "default", "default", id, "checkpoints"))).toEqual(["1"]);
  const urgent = await cluster.submit({ entrypoint: "true", nodes: 3, walltime: "10m", preemption_class: 8 });
  expect(await cluster.ends(urgent)).toMatchObject({ state: "completed" });
  await cluster.reaches(id, ["running"]);
  const { network } = (await cluster.allocation(id)) as { network?: { vni: number } };
  expect(await cluster.allocation(id)).toMatchObject({ preemptions: 1, checkpoint: { last: { number: 2 } } });
  await cluster.cli(["cancel", id]);
  await eventually({ what: "its network is gone" }, () =>
    existsSync(`/run/netns/lattice-${network?.vni}`) ? null : true,
  );
});
