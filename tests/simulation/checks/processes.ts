// Compares what ran on the machines with what was ordered: one process per attempt, after its claim was committed,
// alone on its node or next to permitted neighbours, and within its walltime.

import type { Machine, Process } from "../nodes/machine.ts";
import type { SimulatedNode } from "../nodes/node.ts";
import type { World } from "../world/world.ts";
import type { Ledger } from "./ledger.ts";
import type { Owners } from "./owners.ts";

export interface ProcessChecks {
  started(machine: Machine, process: Process): void;
  ended(machine: Machine, process: Process): void;
  /** Reports processes that outlived their walltime. */
  look(nodes: readonly SimulatedNode[]): void;
  /** The longest requested walltime, by allocation name. */
  allow(name: string, walltimeMs: number): void;
  /** A user asked to change the walltime; the outcome is unknown. */
  mayExtend(name: string, walltimeMs: number): void;
  starts(): number;
}

/** From SIGTERM to SIGKILL, plus time for signals, disks and timers. */
const GRACE_MS = 30_000;
const SLACK_MS = 10_000;

export function processChecks(world: World, ledger: Ledger, owners: Pick<Owners, "whyNotBeside">): ProcessChecks {
  const started = new Set<string>();
  const walltimes = new Map<string, number>();
  /** Clock jumps up to the start of a process: later ones move its end. */
  const jumpedBefore = new Map<string, number>();

  function outlived(node: SimulatedNode, process: Process): void {
    const walltime = walltimes.get(process.order.name);
    // No process is late before this, whatever else adds to it.
    if (walltime === undefined || world.now() <= process.startedAtMs + walltime + GRACE_MS + SLACK_MS) return;
    const what = `${process.key} on ${node.name}`;
    const moved = node.machine.jumped() - (jumpedBefore.get(what) ?? 0);
    const due = Math.max(process.startedAtMs + walltime, node.upSinceMs()) + GRACE_MS + SLACK_MS + moved;
    if (world.now() > due) world.violated("E4", `${what} outlived its walltime of ${walltime} ms`);
  }

  return {
    started(machine, process) {
      const { name } = machine;
      const what = `${process.key} on ${name}`;
      world.note(`start ${what}`);
      if (started.has(what)) world.violated("D1", `${what} was started twice`);
      started.add(what);
      jumpedBefore.set(what, machine.jumped());
      if (!ledger.wasPlaced(process.key, name)) world.violated("O1", `${what} started without a committed claim`);
      const others = machine.live().filter((other) => other.pid !== process.pid);
      const why = others.length === 0 ? null : owners.whyNotBeside(process, others);
      if (why !== null) world.violated("S1", `${what} started beside ${others.map(({ key }) => key).join()}, ${why}`);
    },
    ended(machine, process) {
      world.note(`end ${process.key} on ${machine.name}`);
    },
    look(nodes) {
      for (const node of nodes) {
        if (node.agent() === null) continue;
        for (const process of node.machine.live()) outlived(node, process);
      }
    },
    allow: (name, walltimeMs) => void walltimes.set(name, walltimeMs),
    mayExtend(name, walltimeMs) {
      const known = walltimes.get(name);
      if (known !== undefined) walltimes.set(name, Math.max(known, walltimeMs));
    },
    starts: () => started.size,
  };
}
