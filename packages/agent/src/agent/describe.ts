// Describes the node to the servers: the identity in every Hello, the vitals in every heartbeat.

import { freemem, loadavg } from "node:os";
import type { NodeHardware } from "../discovery/hardware.ts";
import { hundredths, identityOf, type NodeIdentity } from "../link/messages.ts";
import type { AgentOptions } from "../options/options.ts";

interface IdentityFacts {
  readonly version: string;
  readonly bootId: string;
  readonly isolation: string;
  readonly hollow: boolean;
  readonly runtimes: readonly string[];
  readonly conformance: string;
  readonly peerAddress?: string;
  readonly overlayAddresses?: string[];
}

export const describeNode = (options: AgentOptions, hardware: NodeHardware, facts: IdentityFacts): NodeIdentity =>
  identityOf({
    nodeId: options.nodeId,
    group: options.group,
    homeVcluster: options.homeVcluster,
    hardware,
    ...facts,
  });

const BYTES_PER_GB = 1024 ** 3;

export const vitals = (): { load1: number; memoryAvailableGb: number } => ({
  load1: loadavg()[0] ?? 0,
  memoryAvailableGb: hundredths(freemem() / BYTES_PER_GB),
});
