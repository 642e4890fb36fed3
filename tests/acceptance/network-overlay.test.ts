// Two machines, simulated by network namespaces on a bridge. Work of one domain reaches the same domain on the other
// machine through the overlay; work of another domain does not.
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const tag = (process.pid % 46_656).toString(36);
const third = 1 + (process.pid % 250);
const BRIDGE = `lbr${tag}`;
const HOST = `10.214.${third}.1`;
const FIRST = 1_000_000 + (process.pid % 60_000) * 100;
const PORT = 18_990;
const machine = (node: string): string => `l${tag}-${node}`;
const ip = (...words: string[]): void => void execFileSync("ip", words);

beforeAll(() => {
  ip("link", "add", BRIDGE, "type", "bridge");
  ip("addr", "add", `${HOST}/24`, "dev", BRIDGE);
  ip("link", "set", BRIDGE, "up");
  for (const [i, node] of ["node-1", "node-2"].entries()) {
    const outer = `lv${tag}${i}`;
    ip("netns", "add", machine(node));
    ip("link", "add", outer, "type", "veth", "peer", "name", "up0", "netns", machine(node));
    ip("link", "set", outer, "master", BRIDGE, "up");
    ip("-n", machine(node), "addr", "add", `10.214.${third}.${11 + i}/24`, "dev", "up0");
    ip("-n", machine(node), "link", "set", "up0", "up");
    ip("-n", machine(node), "link", "set", "lo", "up");
  }
});
afterAll(() => {
  for (const node of ["node-1", "node-2"]) execFileSync("/bin/sh", ["-c", `ip netns del ${machine(node)} || true`]);
  execFileSync("/bin/sh", ["-c", `ip link del ${BRIDGE} || true`]);
});

// A machine has its own /run, where its namespaces are kept.
const cluster = useCluster({
  nodes: 2,
  host: HOST,
  config: [
    "api: { allow_unauthenticated: true }",
    `network: { vni_pool_start: ${FIRST}, vni_pool_end: ${FIRST + 9}, grace_period: 1s }`,
    "",
  ].join("\n"),
  agentArgs: ["--network=linux", "--network-uplink=up0"],
  agentPrefix: (node) => [
    ...["ip", "netns", "exec", machine(node)],
    ...["/bin/sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"],
  ],
});

const server = `require("http").createServer((q,r)=>r.end("hello from afar")).listen(${PORT},"0.0.0.0",()=>console.log(process.env.LATTICE_DOMAIN_ADDRESS))`;
/** An isolated client receives nothing while it waits. */
const ask = (address: string, waitMs: number): string =>
  `${process.execPath} -e 'fetch("http://${address}:${PORT}",{signal:AbortSignal.timeout(${waitMs})}).then(r=>r.text()).then(console.log,()=>{console.log("cut off");process.exit(7)})'`;
const on = (node: string, more: object) => ({ walltime: "10m", required_nodes: [node], ...more });

test("a network domain spans machines and is isolated from another domain on them", async () => {
  const serving = await cluster.submit(
    on("node-1", { command: [process.execPath, "-e", server], network_domain: "blue" }),
  );
  await cluster.reaches(serving, ["running"]);
  const address = await eventually({ what: "it says where it is" }, async () => {
    const { stdout } = await cluster.cli(["logs", serving]);
    return stdout.endsWith("\n") ? stdout.trim() : null;
  });
  expect(address).toMatch(/^100\.\d+\.\d+\.\d+$/);

  const friend = await cluster.submit(on("node-2", { entrypoint: ask(address, 60_000), network_domain: "blue" }));
  expect(await cluster.ends(friend), (await cluster.cli(["logs", friend])).stdout).toMatchObject({
    state: "completed",
  });
  expect((await cluster.cli(["logs", friend])).stdout).toContain("hello from afar");
  const stranger = await cluster.submit(on("node-2", { entrypoint: ask(address, 4_000), network_domain: "green" }));
  expect(await cluster.ends(stranger)).toMatchObject({ state: "failed", exit_code: 7 });
  const outside = await cluster.submit(on("node-2", { entrypoint: ask(address, 4_000) }));
  expect(await cluster.ends(outside)).toMatchObject({ state: "failed", exit_code: 7 });
  await cluster.cli(["cancel", serving]);
  await cluster.ends(serving);

  // One allocation on both: its parts know each other's addresses. The first ends once the second has connected.
  const once = server.replace(/r\.end\("[^"]*"\)/, (ends) => `{setTimeout(()=>process.exit(0),2000);${ends}}`);
  const again = `const ask=()=>fetch("http://"+process.env.FIRST_ADDRESS+":${PORT}").then(r=>r.text()).then(console.log,()=>setTimeout(ask,200));ask()`;
  const both = [
    "#!/bin/sh",
    "export FIRST_ADDRESS=$(echo $LATTICE_DOMAIN_ADDRESSES | cut -d, -f1)",
    `if [ "$LATTICE_DOMAIN_ADDRESS" = "$FIRST_ADDRESS" ]; then exec ${process.execPath} -e '${once}'; fi`,
    `exec ${process.execPath} -e '${again}'`,
  ].join("\n");
  const pair = await cluster.submit({
    script: both,
    nodes: 2,
    walltime: "10m",
    network_domain: "blue",
  });
  const end = await cluster.ends(pair);
  expect(end, (await cluster.cli(["logs", pair])).stdout).toMatchObject({ state: "completed" });
});

/** A broadcast frame for a domain, in a packet of the overlay, as any process can write it. */
const FORGE = `const [to, vni] = process.argv.slice(1);
const packet = Buffer.alloc(80); packet[0] = 8; packet.writeUIntBE(Number(vni), 4, 3); packet.fill(255, 8, 14); packet[14] = 2; packet[19] = 7;
const socket = require("node:dgram").createSocket("udp4");
const send = (left) => left === 0 ? socket.close() : socket.send(packet, 4789, to, () => setTimeout(send, 10, left - 1));
send(20);`;

test("a user of a node and a host without an agent put no packet into a domain", async () => {
  const held = await cluster.submit(on("node-1", { command: ["/bin/sleep", "600"], network_domain: "red" }));
  await cluster.reaches(held, ["running"]);
  const inside = (...words: string[]): string =>
    execFileSync("nsenter", [`--target=${cluster.agent("node-1").pid}`, "--mount", "--net", "--", ...words], {
      encoding: "utf8",
    });
  const [domain = ""] = /lattice-\d+/.exec(inside("ip", "netns", "list")) ?? [];
  const vni = domain.replace("lattice-", "");
  const counted = `/sys/class/net/lvx${vni}/statistics/rx_packets`;
  const received = (): number => Number(inside("ip", "netns", "exec", domain, "cat", counted));
  const target = `10.214.${third}.11`;
  const before = received();
  const user = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"];
  execFileSync("ip", ["netns", "exec", machine("node-2"), ...user, process.execPath, "-e", FORGE, target, vni]);
  execFileSync(process.execPath, ["-e", FORGE, target, vni]);
  expect(received()).toBe(before);
  // Without the filter the same packets arrive.
  inside("nft", "flush", "ruleset");
  execFileSync(process.execPath, ["-e", FORGE, target, vni]);
  await eventually({ what: "a packet arrives" }, async () => (received() > before ? true : null));
  await cluster.cli(["cancel", held]);
  await cluster.ends(held);
});
