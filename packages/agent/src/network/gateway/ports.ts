// Which ports of a node a service may have. Ports that only root may bind belong to the node: others trust what listens
// there, such as a directory of users or the proof of a name for a certificate.

import { readFileSync } from "node:fs";

const FIRST_PORT = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
const USUAL_FIRST = 1024;

/** Returns why a port cannot be exposed, or null. */
export function whyNotExposed(ports: readonly number[], first: number = firstPort()): string | null {
  const refused = ports.find((port) => port < first);
  return refused === undefined
    ? null
    : `port ${refused} cannot be exposed: ports below ${first} of a node are root's (net.ipv4.ip_unprivileged_port_start)`;
}

function firstPort(): number {
  try {
    return Number(readFileSync(FIRST_PORT, "utf8"));
  } catch {
    return USUAL_FIRST;
  }
}
