// Sensitive work has its own network: only the data gateway is reachable from it, at one port; nothing reaches it, not
// even other sensitive work of the same user; and nothing is left afterwards.
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const run = promisify(execFile);
/** An address of this machine outside its networks. */
const third = 1 + (process.pid % 250);
const [GATEWAY, OTHER] = [`10.213.${third}.1`, `10.213.${third}.2`];
const [PORT, SIDE_PORT, OWN_PORT] = [18_443, 18_444, 18_445];
const FIRST = 8_000_000 + (process.pid % 80_000) * 100;
const servers: Server[] = [];

beforeAll(async () => {
  for (const address of [GATEWAY, OTHER]) execFileSync("ip", ["addr", "replace", `${address}/32`, "dev", "lo"]);
  for (const [host, port] of [
    [GATEWAY, PORT],
    [GATEWAY, SIDE_PORT],
    [OTHER, PORT],
  ] as const) {
    const server = createServer((_, answer) => answer.end(`data of ${host}:${port}`));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
  }
});
afterAll(() => {
  for (const server of servers) server.close();
  for (const address of [GATEWAY, OTHER]) execFileSync("ip", ["addr", "del", `${address}/32`, "dev", "lo"]);
});

const cluster = useCluster({
  nodes: 2,
  agentArgs: ["--network=linux"],
  config: `network: { vni_pool_start: ${FIRST}, vni_pool_end: ${FIRST + 9}, data_gateway: "${GATEWAY}:${PORT}" }\n`,
});

/** One line per address: its answer, or a timeout. A responsive address has all the time it needs. */
const asking = (addresses: readonly string[], answers: readonly string[] = []): string =>
  `${process.execPath} -e '${`
const ms = (at) => ${JSON.stringify(answers)}.includes(at) ? 60000 : 3000;
const ask = (at) => fetch("http://" + at, { signal: AbortSignal.timeout(ms(at)) }).then((r) => r.text(), () => "cut off");
(async () => { for (const at of process.argv.slice(1)) console.log(at, await ask(at)); })();
`.trim()}' ${addresses.join(" ")}`;

const job = (more: object) => ({ vcluster: "clinic", walltime: "10m", ...more });
const serving = `require("http").createServer((q,r)=>r.end("secret")).listen(${OWN_PORT},"0.0.0.0")`;

test("a sensitive domain reaches only the data gateway and accepts no connections", async () => {
  await cluster.cli(["admin", "vcluster", "create", "clinic", "--scheduler=sensitive-reservation"]);
  const refused = await cluster.api("POST", "/allocations", {
    body: job({ entrypoint: "true", network_domain: "blue" }),
  });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("has its own network");

  const first = await cluster.submit(job({ command: [process.execPath, "-e", serving] }));
  await cluster.reaches(first, ["running"]);
  const { network } = (await cluster.allocation(first)) as { network?: { domain: string; vni: number } };
  expect(network).toMatchObject({
    domain: expect.stringMatching(new RegExp(`^sensitive-.*-${first}$`)),
    sensitive: true,
  });
  expect((await cluster.cli(["admin", "network", "list"])).stdout).toMatch(/active, sensitive +0 s/);

  const everywhere = [`${GATEWAY}:${PORT}`, `${GATEWAY}:${SIDE_PORT}`, `${OTHER}:${PORT}`, `127.0.0.1:${OWN_PORT}`];
  const second = await cluster.submit(
    job({ entrypoint: `${asking([...everywhere, cluster.restAddress], [`${GATEWAY}:${PORT}`])}; env | grep GATEWAY` }),
  );
  expect(await cluster.ends(second)).toMatchObject({ state: "completed" });
  // Its output is visible to its user alone.
  const stranger = await cluster.cli(["logs", second], { env: { LATTICE_USER: "mallory" } });
  expect([stranger.stdout, stranger.stderr]).toEqual(["", expect.stringContaining("sensitive")]);
  const { stdout } = await cluster.cli(["logs", second]);
  expect(stdout.trim().split("\n")).toEqual([
    `${GATEWAY}:${PORT} data of ${GATEWAY}:${PORT}`,
    `${GATEWAY}:${SIDE_PORT} cut off`,
    `${OTHER}:${PORT} cut off`,
    `127.0.0.1:${OWN_PORT} cut off`,
    `${cluster.restAddress} cut off`,
    `LATTICE_DATA_GATEWAY=${GATEWAY}:${PORT}`,
  ]);

  // The gateway outlives the agent, like the work; the work stays unreachable from outside.
  const { nodes: [node = ""] = [] } = await cluster.allocation(first);
  await cluster.agent(node).kill();
  const output = async (...words: readonly string[]): Promise<string> =>
    (await run(words[0] ?? "", words.slice(1))).stdout;
  const inside = (address: string): Promise<string> =>
    output("nsenter", `--net=/run/netns/lattice-${network?.vni}`, "/bin/sh", "-c", asking([address], [address]));
  expect(await inside(`127.0.0.1:${OWN_PORT}`)).toContain("secret");
  expect(await inside(`${GATEWAY}:${PORT}`)).toContain("data of");
  expect(await output("/bin/sh", "-c", asking([`127.0.0.1:${OWN_PORT}`]))).toContain("cut off");
  cluster.startAgent(node);
  await cluster.nodesReady([node]);

  await cluster.cli(["cancel", first]);
  await eventually({ what: "nothing is left of it" }, async () => {
    const { stdout: listed } = await cluster.cli(["admin", "network", "list", "-o", "json"]);
    const gone = !listed.includes("sensitive-") && !existsSync(`/run/netns/lattice-${network?.vni}`);
    return gone && !isRunning(`lattice-gateway.js /run/netns/lattice-${FIRST}`) ? true : null;
  });
});

const isRunning = (words: string): boolean =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .some((line) => line.includes(words));
