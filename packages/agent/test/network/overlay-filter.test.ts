// The filter of an overlay, on two machines that are network namespaces: packets of a VNI arrive from the nodes of its
// domain only, and no program of a user can send any.

import { execFileSync, spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filterScript, peersProblem, peersScript, removeFilterScript } from "../../src/network/overlay-filter.ts";

const tag = `lto${(process.pid % 46_656).toString(36)}`;
const [here, there] = [`${tag}-a`, `${tag}-b`];
const [OWN, OTHER] = ["10.219.0.1", "10.219.0.2"];
const VNI = 5_000;
const NOBODY = "65534";
const ip = (line: string): void => void execFileSync("ip", line.split(" "));
const inside = (machine: string, ...words: string[]) =>
  spawnSync("ip", ["netns", "exec", machine, ...words], { encoding: "utf8" });
const nft = (script: string): void => expect(inside(here, "/bin/sh", "-ec", script)).toMatchObject({ status: 0 });

beforeAll(() => {
  for (const machine of [here, there]) ip(`netns add ${machine}`);
  ip(`link add va netns ${here} type veth peer name vb netns ${there}`);
  ip(`-n ${here} addr add ${OWN}/24 dev va`);
  ip(`-n ${there} addr add ${OTHER}/24 dev vb`);
  ip(`-n ${here} link set va up`);
  ip(`-n ${there} link set vb up`);
  for (const vni of [VNI, VNI + 1]) {
    ip(`-n ${here} link add vx${vni} type vxlan id ${vni} dev va dstport 4789`);
    ip(`-n ${here} link set vx${vni} up`);
  }
});
afterAll(() => {
  for (const machine of [here, there]) spawnSync("ip", ["netns", "del", machine]);
});

/** A broadcast frame for the namespace of the domain, as any process can write it. */
const SEND = `const [to, vni] = process.argv.slice(1);
const packet = Buffer.alloc(80); packet[0] = 8; packet.writeUIntBE(Number(vni), 4, 3); packet.fill(255, 8, 14); packet[14] = 2; packet[19] = 7;
const socket = require("node:dgram").createSocket("udp4");
socket.send(packet, 4789, to, (error) => { console.log(error === null ? "sent" : error.code); socket.close(); });`;
const send = (from: string, to: string, vni: number, ...as: string[]): string =>
  inside(from, ...as, process.execPath, "-e", SEND, to, String(vni)).stdout.trim();
const received = (vni: number): number =>
  Number(inside(here, "cat", `/sys/class/net/vx${vni}/statistics/rx_packets`).stdout);

async function arrives(vni: number): Promise<boolean> {
  const before = received(vni);
  expect(send(there, OWN, vni)).toBe("sent");
  for (let tries = 0; tries < 20 && received(vni) === before; tries += 1) await new Promise((r) => setTimeout(r, 5));
  return received(vni) > before;
}
const peers = (addresses: readonly string[], complete: boolean) => peersScript({ vni: VNI, addresses, complete });

test("packets of a domain arrive from its nodes only, and other domains are as before", async () => {
  expect(await arrives(VNI)).toBe(true);
  nft(peers([OTHER], true));
  nft(filterScript(VNI));
  expect(await arrives(VNI)).toBe(false);
  expect(await arrives(VNI + 1)).toBe(true);
  nft(peers(["10.219.0.9"], true));
  expect(await arrives(VNI)).toBe(false);
  nft(peers([OTHER], false));
  expect(await arrives(VNI)).toBe(true);
  nft(peers([], false));
  nft(filterScript(VNI));
  expect(await arrives(VNI)).toBe(true);
  nft(peers([], true));
  expect(await arrives(VNI)).toBe(false);
  nft(removeFilterScript(VNI));
  nft(removeFilterScript(VNI));
  expect(await arrives(VNI)).toBe(true);
});

test("a user of the node cannot send packets of an overlay", () => {
  const user = ["/usr/bin/setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--"];
  expect(send(here, OTHER, VNI, ...user)).toBe("sent");
  nft(filterScript(VNI));
  expect(send(here, OTHER, VNI, ...user)).toBe("EPERM");
  expect(send(here, OWN, VNI, ...user)).toBe("EPERM");
  expect(send(here, OTHER, VNI)).toBe("sent");
  nft(removeFilterScript(VNI));
});

test.each([
  [{ vni: 5, addresses: ["10.0.0.1 }; flush ruleset"] }, "is not an IPv4 address"],
  [{ vni: 5, addresses: ["fd00::1"] }, "is not an IPv4 address"],
  [{ vni: 0, addresses: [] }, "0 is not a VNI"],
  [{ vni: 1.5, addresses: [] }, "is not a VNI"],
  [{ vni: 2 ** 24, addresses: [] }, "is not a VNI"],
])("peers %o are refused", (given, problem) => {
  expect(peersProblem(given)).toContain(problem);
});
