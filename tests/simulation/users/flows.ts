// Linked work of random users: dependents, task groups and DAGs. All of it is bounded, so that a simulation can
// finish.

import {
  type AllocationId,
  type AllocationSpec,
  type Command,
  type DagMember,
  type Dependency,
  type DependencyCondition,
  type GroupShape,
  rangeOfRuns,
} from "@lattice/core";
import type { Random } from "../world/random.ts";
import { originOf, specOf } from "./requests.ts";

/** Acknowledged earlier work. */
export interface EarlierWork {
  readonly id: AllocationId;
  readonly tenant: string;
}

export interface Flow {
  readonly command: Command;
  /** Each has its own name. */
  readonly specs: readonly AllocationSpec[];
}

const CONDITIONS: readonly DependencyCondition[] = ["success", "success", "any", "failure", "corresponding"];

/** `null` for independent work. */
export function flow(random: Random, requestId: string, earlier: readonly EarlierWork[]): Flow | null {
  const kind = random.between(0, 9);
  if (kind >= 4) return null;
  if (kind === 3) return dag(random, requestId);
  const base = endingSpec(random, requestId);
  const spec = withEdges(base, edges(random, base, earlier));
  const origin = originOf(requestId);
  const command: Command =
    kind === 0
      ? { kind: "allocation.submit", origin, spec, createTenant: true }
      : { kind: "group.submit", origin, spec, createTenant: true, ...shape(random) };
  return { command, specs: [spec] };
}

function shape(random: Random): GroupShape {
  const start = random.between(0, 3);
  const first = { start, end: start + random.between(0, 12), step: random.between(1, 2) };
  const apart = first.end + random.between(1, 4);
  const range = random.chance(0.7) ? first : rangeOfRuns([first, { start: apart, end: apart + 2, step: 1 }]);
  return { range, concurrency: random.chance(0.5) ? random.between(1, 4) : null };
}

/** Small, bounded, for one node. */
function endingSpec(random: Random, name: string): AllocationSpec {
  const spec = specOf(random, name);
  return {
    ...spec,
    resources: { ...spec.resources, minNodes: 1, maxNodes: 1 },
    lifecycle: { ...spec.lifecycle, kind: "bounded", walltime: (random.pick([15, 30, 60]) * 1_000) as never },
  };
}

function edges(random: Random, { tenant }: AllocationSpec, earlier: readonly EarlierWork[]): readonly Dependency[] {
  const own = earlier.filter((one) => one.tenant === tenant).slice(-6);
  const list: Dependency[] = [];
  if (own.length > 0 && random.chance(0.8)) list.push({ ref: random.pick(own).id, condition: random.pick(CONDITIONS) });
  if (random.chance(0.2)) list.push({ ref: random.pick(["disk", "tape"]), condition: "mutex" });
  return list;
}

const withEdges = (spec: AllocationSpec, dependsOn: readonly Dependency[]): AllocationSpec =>
  dependsOn.length === 0 ? spec : { ...spec, dependsOn };

function dag(random: Random, requestId: string): Flow {
  const count = random.between(2, 6);
  const names = Array.from({ length: count }, (_, n) => `${requestId}-${n}`);
  const tenant = specOf(random, requestId).tenant;
  const members = names.map((name, n): DagMember => {
    const spec = { ...endingSpec(random, name), tenant };
    const before = n === 0 ? [] : [{ ref: random.pick(names.slice(0, n)), condition: random.pick(CONDITIONS) }];
    return { name, spec: withEdges(spec, before), group: random.chance(0.25) ? shape(random) : null };
  });
  const command: Command = {
    kind: "dag.submit",
    origin: originOf(requestId),
    name: requestId,
    members,
    createTenant: true,
    maxMembers: 1_000,
  };
  return { command, specs: members.map(({ spec }) => spec) };
}
