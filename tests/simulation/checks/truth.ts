// What really happened on the machines, held against what was ordered: one process for each attempt,
// only after its claim was committed, alone on its node or beside those it may share it with, and not beyond its walltime.

import type { Machine, Process } from "../nodes/machine.ts";
import type { SimulatedNode } from "../nodes/node.ts";
import type { World } from "../world/world.ts";
import type { Ledger } from "./ledger.ts";
import type { Owners } from "./owners.ts";

export interface Truth {
  started(machine: Machine, process: Process): void;
  ended(machine: Machine, process: Process): void;
  /** Looks for processes that outlived their walltime. */
  look(nodes: readonly SimulatedNode[]): void;
  /** The longest walltime that anyone asked for, by the name of the allocation. */
  allow(name: string, walltimeMs: number): void;
  /** Somebody asked to change the walltime; whether it was changed is not known. */
  mayExtend(name: string, walltimeMs: number): void;
  starts(): number;
}

/** From SIGTERM to SIGKILL, and what signals, disks and timers may take beside it. */
const GRACE_MS = 30_000;
const SLACK_MS = 10_000;

export function createTruth(world: World, ledger: Ledger, owners: Pick<Owners, "whyNotBeside">): Truth {
  const begun = new Set<string>();
  const walltimes = new Map<string, number>();
  /** Jumps of the machine's clock at the start of a process: later ones move its end. */
  const jumpedBefore = new Map<string, number>();

  function outlived(node: SimulatedNode, process: Process): void {
    const walltime = walltimes.get(process.order.name);
    // Whatever else may add to it, nothing is late before then.
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
      if (begun.has(what)) world.violated("D1", `${what} was started twice`);
      begun.add(what);
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
    starts: () => begun.size,
  };
}
