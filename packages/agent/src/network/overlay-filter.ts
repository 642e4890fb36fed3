// Receives the overlay of a network domain from the other nodes of that domain only: VXLAN itself accepts packets of any
// host that reaches the node. One table of nftables per VNI, beside all rules of the site, which it cannot weaken: a
// packet that it lets pass is still judged by the others. It also keeps programs of the node other than root's from
// sending such packets, since they would come from an address that the other nodes accept. Pure: makes scripts.

import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { quoted } from "../base/shell-text.ts";
import type { OverlayPeers } from "./driver.ts";

export const OVERLAY_PORT = 4789;
const MAX_VNI = 2 ** 24 - 1;
/** More nodes than a domain has. */
const MAX_PEERS = 65_536;

const tableOf = (vni: number): string => `inet lattice-vni-${vni}`;

/** Creates the table unless it exists. Nothing is received before the first peers are set. */
export function filterScript(vni: number): string {
  // Behind the UDP header of 8 bytes: flags and reserved bits, then the VNI.
  const packet = `udp dport ${OVERLAY_PORT} @th,96,24 ${vni}`;
  const table = [
    `table ${tableOf(vni)} {`,
    "  set peers { type ipv4_addr; }",
    "  chain incoming {",
    "    type filter hook input priority -300; policy accept;",
    `    ${packet} ip saddr @peers accept`,
    `    ${packet} drop`,
    "  }",
    "  chain outgoing {",
    "    type filter hook output priority -300; policy accept;",
    // The kernel's own packets have no user.
    `    udp dport ${OVERLAY_PORT} meta skuid != 0 drop`,
    "  }",
    "}",
  ].join("\n");
  return `nft list table ${tableOf(vni)} >/dev/null 2>&1 || nft ${quoted(table)}`;
}

export const removeFilterScript = (vni: number): string => `nft delete table ${tableOf(vni)} 2>/dev/null || true`;

/** Changes the peers in one transaction. A table that is gone belongs to a domain that this node has left. */
export function peersScript({ vni, addresses, complete }: OverlayPeers): string {
  const name = `${tableOf(vni)} peers`;
  const lines = [
    ...(complete ? [`flush set ${name}`] : []),
    ...(addresses.length === 0 ? [] : [`add element ${name} { ${addresses.join(", ")} }`]),
  ];
  return lines.length === 0
    ? "true"
    : `if nft list table ${tableOf(vni)} >/dev/null 2>&1; then nft ${quoted(lines.join("\n"))}; fi`;
}

/** Returns why a message is refused, or null: an agent must not let a server put words into its scripts. */
export function peersProblem({ vni, addresses }: Pick<OverlayPeers, "vni" | "addresses">): string | null {
  if (!Number.isInteger(vni) || vni < 1 || vni > MAX_VNI) return `${vni} is not a VNI`;
  if (addresses.length > MAX_PEERS) return `more than ${MAX_PEERS} addresses`;
  const wrong = addresses.find((address) => !isIPv4(address));
  return wrong === undefined ? null : `${JSON.stringify(wrong.slice(0, 40))} is not an IPv4 address`;
}

/** The addresses of a device from which it sends; the overlay uses IPv4. */
export const uplinkAddresses = (uplink: string): string[] =>
  (networkInterfaces()[uplink] ?? []).filter(({ family }) => family === "IPv4").map(({ address }) => address);
