// Decides whether the proxy may connect to the address of an endpoint. A connection of the server has powers that its
// callers lack: it comes from the server's machine, where etcd and other programs trust it. So it never goes to the
// server's machine, with one exception: a server that listens on loopback only, such as that of `lattice up`, reaches
// the services of agents that connect from loopback, but none of its own ports.

import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { ServiceEndpoint } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import { type Config, isLoopback, parseListen } from "../../../base/config/index.ts";
import type { ApiContext } from "../../invoke/invoke.ts";

/** The server's machine, as this file sees it. */
export interface OwnMachine {
  /** Addresses of its network interfaces. */
  readonly addresses: ReadonlySet<string>;
  /** Ports of this server and of its etcd member. */
  readonly ports: ReadonlySet<number>;
  readonly onLoopbackOnly: boolean;
}

type Ip = { readonly address: string; readonly family: 4 | 6 };

/** No node has such an address: this host, link-local, multicast, reserved, and IPv4 inside IPv6. */
const NEVER = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["224.0.0.0", 3],
] as const)
  NEVER.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
] as const)
  NEVER.addSubnet(net, bits, "ipv6");
NEVER.addAddress("fd00:ec2::254", "ipv6");

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** IPv4-compatible addresses, `::` and `::1` among them. */
const COMPATIBLE = new BlockList();
COMPATIBLE.addSubnet("::", 96, "ipv6");

/** Resolves the endpoint to the address to connect to. Throws `node_unreachable` when the proxy must not connect. */
export async function reachableAddress(api: Pick<ApiContext, "config" | "listening">, endpoint: ServiceEndpoint) {
  const found = await resolved(endpoint);
  const own = ownMachine(api);
  const members = await memberAddresses(api.config, endpoint.port);
  for (const ip of found) {
    const why = members.has(ip.address) ? "it is a port of a server" : refusal(ip, endpoint.port, own);
    if (why !== null) throw refused(endpoint, why);
  }
  return found[0] as Ip;
}

/** Returns why the proxy must not connect there, or null. */
export function refusal(ip: Ip, port: number, own: OwnMachine): string | null {
  const { address, family } = plain(ip);
  const type = family === 4 ? "ipv4" : "ipv6";
  const isLocal = LOOPBACK.check(address, type);
  if (!isLocal && (NEVER.check(address, type) || COMPATIBLE.check(address, type)))
    return "it is not an address of a node";
  if (!isLocal && !own.addresses.has(address)) return null;
  if (!own.onLoopbackOnly || !isLocal) return "it is the machine of the server";
  return own.ports.has(port) ? "it is a port of the server" : null;
}

function ownMachine({ config, listening }: Pick<ApiContext, "config" | "listening">): OwnMachine {
  const interfaces = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return {
    addresses: new Set(interfaces.map(({ address }) => address.replace(/%.*$/, ""))),
    ports: new Set([...listening, ...etcdPorts(config.quorum)]),
    onLoopbackOnly: [config.api.restListen, config.api.grpcListen].every(({ host }) => isLoopback(host)),
  };
}

/** The address text as Node's resolver writes it; an IPv4 address inside an IPv6 one counts as that IPv4 address. */
function plain({ address, family }: Ip): Ip {
  if (family === 4) return { address, family };
  const text = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(text);
  if (mapped === null) return { address: text, family };
  const [high, low] = [Number.parseInt(mapped[1] ?? "", 16), Number.parseInt(mapped[2] ?? "", 16)];
  return { address: [high >> 8, high & 255, low >> 8, low & 255].join("."), family: 4 };
}

async function resolved(endpoint: ServiceEndpoint): Promise<readonly Ip[]> {
  const { address } = endpoint;
  const family = isIP(address);
  if (family === 4 || family === 6) return [{ address, family }];
  if (address === "") throw refused(endpoint, "its address is not known");
  const found = await lookup(address, { all: true }).catch(() => []);
  if (found.length === 0) throw refused(endpoint, `${address} cannot be resolved`);
  return found.map((one) => ({ address: one.address, family: one.family === 6 ? 6 : 4 }));
}

/** Members of the control plane elsewhere; they are resolved only when the port is one of theirs. */
async function memberAddresses({ quorum }: Config, port: number): Promise<ReadonlySet<string>> {
  const all = [...quorum.etcd.endpoints, ...quorum.peers.map(({ address }) => address)].flatMap(
    (text) => parseListen(text.replace(/^https?:\/\//, "")) ?? [],
  );
  const hosts = all.filter((one) => one.port === port || etcdPorts(quorum).includes(port)).map(({ host }) => host);
  const found = await Promise.all(hosts.map((host) => lookup(host, { all: true }).catch(() => [])));
  return new Set(found.flat().map(({ address }) => address));
}

function etcdPorts({ etcd, engine }: Config["quorum"]): readonly number[] {
  if (engine !== "etcd") return [];
  const addresses = [etcd.clientListen, etcd.peerAddress, etcd.peerListen, ...etcd.endpoints];
  return addresses.flatMap((text) => parseListen(text?.replace(/^https?:\/\//, "") ?? "")?.port ?? []);
}

const refused = ({ node, port }: ServiceEndpoint, why: string): ProblemError =>
  new ProblemError("node_unreachable", {
    detail: `The proxy does not connect to the service on node ${node}, port ${port}: ${why}.`,
    hint: "Connect from inside the cluster instead, or ask an administrator for the address of the node (node_agent.addresses).",
  });
