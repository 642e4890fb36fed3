// Networks in CIDR notation, and whether they contain an address.

import { BlockList, isIP } from "node:net";

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Returns null for text that is neither a network nor an address. */
export function parseNetwork(text: string): Network | null {
  const [address = "", length, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || address.includes("%") || more.length > 0) return null;
  const most = version === 4 ? 32 : 128;
  const prefix = length === undefined ? most : /^[0-9]{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return prefix <= most ? { address, prefix, family: version === 4 ? "ipv4" : "ipv6" } : null;
}

/** Returns whether one of the networks contains the address. An unreadable network contains none. */
export function containsAddress(networks: readonly string[], address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network !== null) list.addSubnet(network.address, network.prefix, network.family);
  }
  return list.check(address, version === 4 ? "ipv4" : "ipv6");
}
