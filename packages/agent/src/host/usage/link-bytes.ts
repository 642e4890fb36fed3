// The bytes of the network of a process, when it has a network of its own. On the network of the node the kernel does
// not count bytes by process, so there is no value.

import { readFileSync, readlinkSync } from "node:fs";

export interface LinkBytes {
  readonly received: number;
  readonly sent: number;
}

let ownNetwork: string | null = null;

export function linkBytesOf(pid: number): LinkBytes | null {
  try {
    ownNetwork ??= readlinkSync("/proc/self/ns/net");
    const network = readlinkSync(`/proc/${pid}/ns/net`);
    if (network === ownNetwork) return null;
    return totalOf(linksIn(readFileSync(`/proc/${pid}/net/dev`, "latin1")));
  } catch {
    return null;
  }
}

interface LinkCounts extends LinkBytes {
  readonly name: string;
  readonly packets: number;
  /** Errors and drops, in both directions. */
  readonly errors: number;
}

/** From the text of /proc/net/dev, without the loopback link. */
function linksIn(text: string): readonly LinkCounts[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*([^\s:]+):\s*(.*)$/.exec(line);
    if (match?.[1] === undefined || match[1] === "lo") return [];
    const fields = (match[2] ?? "").split(/\s+/).map(Number);
    const at = (i: number): number => fields[i] ?? 0;
    const errors = at(2) + at(3) + at(10) + at(11);
    return [{ name: match[1], received: at(0), sent: at(8), packets: at(1) + at(9), errors }];
  });
}

const totalOf = (links: readonly LinkCounts[]): LinkBytes =>
  links.reduce((sum, { received, sent }) => ({ received: sum.received + received, sent: sum.sent + sent }), {
    received: 0,
    sent: 0,
  });
