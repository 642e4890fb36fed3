// The faults, each with its frequency and its recovery. Every kind has its own random stream, so that excluding one
// changes the others as little as possible.

import type { Cluster } from "../cluster.ts";
import type { Random } from "../world/random.ts";
import { externalFaults } from "./external.ts";
import { logFaults } from "./log.ts";
import { MESSAGE_FAULT_KINDS } from "./message-faults.ts";
import { nodeFaults } from "./nodes.ts";
import { oneClusterFaults } from "./one-cluster.ts";
import { serverFaults } from "./servers.ts";

export interface Fault {
  readonly kind: string;
  /** Mean time between two. */
  readonly everyMs: number;
  /** Armed when it strikes, and counted when a write or message meets it. */
  readonly lies?: boolean;
  /** False when there was nothing to strike. Each fault heals what it breaks. */
  strike(cluster: Cluster, random: Random): boolean;
}

export const FAULTS: readonly Fault[] = [
  ...serverFaults,
  ...logFaults,
  ...nodeFaults,
  ...externalFaults,
  ...oneClusterFaults,
];
export const FAULT_KINDS: readonly string[] = [...FAULTS.map(({ kind }) => kind), ...MESSAGE_FAULT_KINDS];

export interface FaultInjector {
  stop(): void;
}

export function startFaults(cluster: Cluster, kinds: ReadonlySet<string>): FaultInjector {
  const { world, messageFaults } = cluster;
  let going = true;

  function arm(fault: Fault, random: Random): void {
    world.after(random.wait(fault.everyMs), () => {
      if (!going) return;
      arm(fault, random);
      if (!fault.strike(cluster, random)) return;
      world.note(`fault ${fault.kind}`);
      if (fault.lies !== true) messageFaults.met(fault.kind);
    });
  }

  for (const fault of FAULTS) if (kinds.has(fault.kind)) arm(fault, world.random(`fault ${fault.kind}`));
  messageFaults.begin(kinds);
  return {
    stop() {
      going = false;
      messageFaults.stop();
    },
  };
}
