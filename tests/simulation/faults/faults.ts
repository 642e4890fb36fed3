// The faults, each with how often it strikes and how it heals. Every kind has chance of its own, so
// that leaving one out changes as little as possible of what the others do.

import type { Cluster } from "../cluster.ts";
import type { Random } from "../world/random.ts";
import { logFaults } from "./log.ts";
import { nodeFaults } from "./nodes.ts";
import { ODD_KINDS } from "./odds.ts";
import { outsideFaults } from "./outside.ts";
import { serverFaults } from "./servers.ts";

export interface Fault {
  readonly kind: string;
  /** Mean time between two. */
  readonly everyMs: number;
  /** It only lies in wait when it strikes, and is counted by whoever meets it. */
  readonly lies?: boolean;
  /** False when there was nothing to strike. Whatever it breaks it heals by itself, later. */
  strike(cluster: Cluster, random: Random): boolean;
}

export const FAULTS: readonly Fault[] = [...serverFaults, ...logFaults, ...nodeFaults, ...outsideFaults];
export const FAULT_KINDS: readonly string[] = [...FAULTS.map(({ kind }) => kind), ...ODD_KINDS];

export interface Trouble {
  stop(): void;
}

export function beginTrouble(cluster: Cluster, kinds: ReadonlySet<string>): Trouble {
  const { world, odds } = cluster;
  let going = true;

  function arm(fault: Fault, random: Random): void {
    world.after(random.wait(fault.everyMs), () => {
      if (!going) return;
      arm(fault, random);
      if (!fault.strike(cluster, random)) return;
      world.note(`fault ${fault.kind}`);
      if (fault.lies !== true) odds.met(fault.kind);
    });
  }

  for (const fault of FAULTS) if (kinds.has(fault.kind)) arm(fault, world.random(`fault ${fault.kind}`));
  odds.begin(kinds);
  return {
    stop() {
      going = false;
      odds.stop();
    },
  };
}
