// The faults, each with how often it strikes and how it heals. Every kind has chance of its own, so
// that leaving one out changes as little as possible of what the others do.

import type { Cluster } from "../cluster.ts";
import type { Random } from "../world/random.ts";
import { nodeFaults } from "./nodes.ts";
import { serverFaults } from "./servers.ts";

export interface Fault {
  readonly kind: string;
  /** Mean time between two. */
  readonly everyMs: number;
  /** False when there was nothing to strike. Whatever it breaks it heals by itself, later. */
  strike(cluster: Cluster, random: Random): boolean;
}

export const FAULTS: readonly Fault[] = [...serverFaults, ...nodeFaults];
export const FAULT_KINDS: readonly string[] = FAULTS.map(({ kind }) => kind);

export interface Trouble {
  stop(): void;
}

export function beginTrouble(cluster: Cluster, kinds: ReadonlySet<string>): Trouble {
  const { world, faults } = cluster;
  let going = true;

  function arm(fault: Fault, random: Random): void {
    world.after(random.wait(fault.everyMs), () => {
      if (!going) return;
      arm(fault, random);
      if (!fault.strike(cluster, random)) return;
      world.note(`fault ${fault.kind}`);
      faults.set(fault.kind, (faults.get(fault.kind) ?? 0) + 1);
    });
  }

  for (const fault of FAULTS) if (kinds.has(fault.kind)) arm(fault, world.random(`fault ${fault.kind}`));
  return {
    stop() {
      going = false;
    },
  };
}
