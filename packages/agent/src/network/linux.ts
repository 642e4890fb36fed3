// Network domains of plain Linux. Each is a network namespace on the node, so that two domains have no path to each
// other, not even over the loopback. With an uplink, a VXLAN with the domain's number joins the namespaces of one
// domain across nodes, received from the domain's nodes only; without one a domain ends at the node. Agents of one
// machine share the namespaces: files under /run, changed under a lock, count the users, and the last one removes the
// namespace. An agent's files carry its node
// and its data folder, since agents of different clusters may have the same node name. A sensitive domain reaches one
// further endpoint, the data gateway, through a process outside; exposed ports of a service are reached at the node
// through a process inside.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseGateway } from "@lattice/core";
import { execFile, HELPER_ENVIRONMENT } from "../base/programs.ts";
import { quoted } from "../base/shell-text.ts";
import { makeOwnFolder } from "../files/own-tree.ts";
import { type NetworkDriver, type NetworkPlace, namesOf, type OverlayPeers } from "./driver.ts";
import { whyNotExposed } from "./gateway/ports.ts";
import { describeGateway, type Gateway, missingGateways, openGateway } from "./gateway/start.ts";
import { filterScript, OVERLAY_PORT, peersProblem, peersScript, removeFilterScript } from "./overlay-filter.ts";

/** A namespace is created in milliseconds; a longer wait means that it hangs. */
const LIMIT_MS = 10_000;

interface LinuxNetworkOptions {
  readonly nodeId: string;
  readonly dataDir: string;
  /** A network device; empty when domains end at the node. */
  readonly uplink: string;
  /** For tests. */
  readonly usersDir?: string;
}

const USERS_DIR = "/run/lattice-networks";

export function linuxDriver({ nodeId, dataDir, uplink, usersDir = USERS_DIR }: LinuxNetworkOptions): NetworkDriver {
  const own = `${nodeId}@${createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}.`;
  const userOf = (key: string): string => `${own}${key}`;
  const locked = async (script: string): Promise<void> => {
    await makeOwnFolder(usersDir, 0o755);
    await run("flock", [join(usersDir, "lock"), "/bin/sh", "-ec", script]);
  };

  /** As the leader named them last: they may arrive before the first order of a domain. */
  const known = new Map<number, OverlayPeers>();

  async function leaveAll(of: (user: string) => boolean): Promise<void> {
    for (const vni of await readdir(usersDir).catch(() => [])) {
      if (!/^\d+$/.test(vni)) continue;
      for (const user of await readdir(join(usersDir, vni)).catch(() => []))
        if (of(user)) await locked(leaveScript(usersDir, Number(vni), user));
    }
  }

  function gatewaysOf({ key, network }: NetworkPlace): readonly Gateway[] {
    const { vni, dataGateway: gateway, exposed } = network;
    const namespace = `/run/netns/${nameOf(vni)}`;
    const mark = join(usersDir, String(vni), userOf(key));
    const out: readonly Gateway[] = gateway === "" ? [] : [{ kind: "out", namespace, gateway }];
    return [...out, ...exposed.map((port): Gateway => ({ kind: "in", namespace, port, mark }))];
  }

  return {
    kind: "linux",
    async join(place) {
      const { key, network, nodes } = place;
      const refusal = whyNotExposed(network.exposed);
      if (refusal !== null) throw new Error(refusal);
      const address = addressOf(nodeId);
      const { vni, dataGateway: gateway } = network;
      const peers = known.get(vni);
      await locked(
        joinScript({ usersDir, uplink, address, vni, peers, user: userOf(key), gateway: gatewayAddress(gateway) }),
      );
      // Named while the domain was being made.
      const named = known.get(vni);
      if (named !== undefined && named !== peers) await locked(peersScript(named));
      for (const route of gatewaysOf(place)) await openGateway(route);
      return {
        before: ["/usr/bin/nsenter", `--net=/run/netns/${nameOf(network.vni)}`, "--"],
        variables: { ...namesOf(network), ...(uplink === "" ? {} : addressNames(address, nodes)) },
      };
    },
    async keep(place) {
      const missing = await missingGateways(gatewaysOf(place));
      for (const route of missing) await openGateway(route);
      return missing.map(describeGateway);
    },
    async peers(peers) {
      const problem = peersProblem(peers);
      if (problem !== null) throw new Error(problem);
      if (uplink === "") return;
      known.set(peers.vni, peers);
      await locked(peersScript(peers));
    },
    leave: (key) => leaveAll((user) => user === userOf(key)),
    async sweep(known) {
      await leaveAll((user) => user.startsWith(own) && !known.has(user.slice(own.length)));
      // An agent that ended between the last user and the namespace.
      for (const vni of await readdir(usersDir).catch(() => []))
        if (/^\d+$/.test(vni)) await locked(emptyScript(usersDir, Number(vni)));
    },
  };
}

/** Returns why this machine cannot use the driver, or null. It needs root, the tools and namespaces. */
export async function whyNoLinuxDriver(uplink: string): Promise<string | null> {
  if (process.getuid?.() !== 0) return "the agent does not run as root";
  for (const tool of ["ip", "nsenter", "flock", ...(uplink === "" ? [] : ["nft"])]) {
    const found = await run("/bin/sh", ["-c", `command -v ${tool}`]).catch(() => null);
    if (found === null) return `there is no ${tool} on this machine`;
  }
  const types = await readFile("/proc/self/ns/net").catch((error: NodeJS.ErrnoException) => error.code);
  return types === "ENOENT" ? "the kernel has no network namespaces" : null;
}

/** Throws on a malformed address: an agent must not let a server put words into its scripts. */
function gatewayAddress(gateway: string): string | null {
  if (gateway === "") return null;
  const place = parseGateway(gateway);
  if (place === null) throw new Error(`${JSON.stringify(gateway)} is no address of a data gateway`);
  return `${place.host}/${place.family === 6 ? 128 : 32}`;
}

const nameOf = (vni: number): string => `lattice-${vni}`;

interface Joining {
  readonly usersDir: string;
  readonly uplink: string;
  readonly address: string;
  readonly vni: number;
  readonly user: string;
  /** Address with prefix length that answers inside; `null` for none. */
  readonly gateway: string | null;
  readonly peers: OverlayPeers | undefined;
}

/** Creates the namespace if needed; the user is recorded last, only in a complete namespace. */
function joinScript({ usersDir, uplink, address, vni, user, gateway, peers }: Joining): string {
  const name = nameOf(vni);
  const device = `lvx${vni}`;
  // First, so that the overlay never receives packets of other hosts.
  const filter = uplink === "" ? [] : [filterScript(vni), ...(peers === undefined ? [] : [peersScript(peers)])];
  const overlay = [
    `ip link add ${device} type vxlan id ${vni} group ${groupOf(vni)} dev ${quoted(uplink)} dstport ${OVERLAY_PORT}`,
    `ip link set ${device} netns ${name}`,
    `ip -n ${name} addr add ${address}/10 dev ${device}`,
    `ip -n ${name} link set ${device} up`,
  ];
  // The address is unique inside, so duplicate detection, during which no process could listen, is off.
  const alone = gateway?.includes(":") === true ? " nodad" : "";
  const door = gateway === null ? [] : [`ip -n ${name} addr add ${quoted(gateway)} dev lo${alone}`];
  return [
    ...filter,
    `if ! [ -e /run/netns/${name} ]; then`,
    `  ip netns add ${name}`,
    `  if ! { ${["true", `ip -n ${name} link set lo up`, ...(uplink === "" ? [] : overlay), ...door].join(" && ")}; }; then`,
    `    ip netns del ${name}; exit 1`,
    "  fi",
    "fi",
    `mkdir -p ${quoted(join(usersDir, String(vni)))}`,
    `: > ${quoted(join(usersDir, String(vni), user))}`,
  ].join("\n");
}

const leaveScript = (usersDir: string, vni: number, user: string): string =>
  `rm -f ${quoted(join(usersDir, String(vni), user))}\n${emptyScript(usersDir, vni)}`;

/** Removes the namespace when it has no user. */
const emptyScript = (usersDir: string, vni: number): string =>
  [
    `if rmdir ${quoted(join(usersDir, String(vni)))} 2>/dev/null; then`,
    `  ip netns del ${nameOf(vni)} 2>/dev/null || true`,
    `  ${removeFilterScript(vni)}`,
    "fi",
  ].join("\n");

/** Every node can compute the addresses of the others in a domain, within 100.64.0.0/10. */
function addressOf(node: string): string {
  const digest = createHash("sha256").update(node).digest();
  const host = digest.readUInt32BE(0) >>> 10 || 1;
  return `100.${64 + (host >>> 16)}.${(host >>> 8) & 255}.${host & 255}`;
}

const groupOf = (vni: number): string => `239.${(vni >>> 16) & 255}.${(vni >>> 8) & 255}.${vni & 255}`;

const addressNames = (address: string, nodes: NetworkPlace["nodes"]): Record<string, string> => ({
  LATTICE_DOMAIN_ADDRESS: address,
  LATTICE_DOMAIN_ADDRESSES: nodes.map(addressOf).join(","),
});

/** Rejects with what the program wrote to stderr. */
function run(program: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, words, { timeout: LIMIT_MS, env: HELPER_ENVIRONMENT }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}
