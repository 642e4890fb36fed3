// Builders for the tests of preemption: running work, and machines that are full of it.

import { attempt, type Duration, instant, type TenantId } from "@lattice/core";
import type { AwaitingInput, CycleInput, NodeInput, ReleaseInput, VictimInput } from "../../src/index.ts";
import { allocationId, input, MINUTE, NOW, nodeIds } from "../make.ts";

export interface RunningFields {
  readonly class?: number;
  readonly began?: number;
  readonly minutes?: number | null;
  readonly requeues?: boolean;
  readonly borrows?: boolean;
  readonly tenant?: string;
  readonly preempted?: number;
}

/** Started this many minutes ago, with this walltime in minutes. */
export function running(id: number, nodes: readonly string[], fields: RunningFields = {}): VictimInput {
  const minutes = fields.minutes === undefined ? 600 : fields.minutes;
  return {
    allocation: allocationId(id),
    attempt: attempt(1),
    tenant: (fields.tenant ?? "biology") as TenantId,
    preemptionClass: fields.class ?? 2,
    nodes: nodeIds(...nodes),
    startedAt: instant(NOW - (fields.began ?? 1) * MINUTE),
    walltime: minutes === null ? null : ((minutes * MINUTE) as Duration),
    requeues: fields.requeues ?? true,
    gpusPerNode: 1,
    borrows: fields.borrows ?? false,
    preempted: fields.preempted ?? 0,
  };
}

const releaseOf = ({ allocation, nodes, startedAt, walltime }: VictimInput): ReleaseInput => ({
  allocation,
  nodes,
  endsAt: startedAt === null || walltime === null ? null : instant(startedAt + walltime + 30_000),
});

export const awaiting = (id: number, nodes: readonly string[], own = true): AwaitingInput => ({
  allocation: allocationId(id),
  own,
  nodes: nodeIds(...nodes),
});

/** Nodes are free unless a victim runs there. */
export function full(
  nodes: readonly NodeInput[],
  victims: readonly VictimInput[],
  rest: Partial<CycleInput> = {},
): CycleInput {
  const taken = new Set(victims.flatMap((victim) => victim.nodes));
  return input({
    nodes: nodes.map((node) => (taken.has(node.id) ? { ...node, free: false, notFreeBecause: "busy" } : node)),
    releases: victims.map(releaseOf),
    victims,
    ...rest,
  });
}
