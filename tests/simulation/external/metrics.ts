// The metrics of services, as an external store has them: each service follows a random walk around its target, with
// periods without a value. The values given to each server are recorded, so that its decisions can be checked.

import type { Allocation, AllocationId } from "@lattice/core";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** The metric name of services; their target is 1. */
export const METRIC = "load";

export interface MetricReading {
  readonly atMs: number;
  /** The process of the server that asked. */
  readonly by: string;
  readonly value: number | null;
}

export interface MetricStore {
  readings(host: Host): {
    read(records: readonly Allocation[], signal: AbortSignal): Promise<ReadonlyMap<AllocationId, number>>;
  };
  /** Newest last. */
  given(id: AllocationId): readonly MetricReading[];
}

interface Walk {
  readonly random: Random;
  step: number;
  value: number;
  /** The value it drifts towards. */
  aim: number;
  /** No value before this step. */
  absentBefore: number;
}

const STEP_MS = 5_000;
/** Longer than the longest window of a service. */
const MAX_TOLD = 64;
/** Probability that the whole store does not answer. */
const AWAY = 0.02;

export function createMetricStore(world: World): MetricStore {
  const walks = new Map<AllocationId, Walk>();
  const given = new Map<AllocationId, MetricReading[]>();

  function walkOf(id: AllocationId): Walk {
    const known = walks.get(id);
    if (known !== undefined) return known;
    const random = world.random(`metric ${id}`);
    const walk: Walk = { random, step: stepNow(), value: random.next(), aim: 1, absentBefore: 0 };
    walks.set(id, walk);
    return walk;
  }

  const stepNow = (): number => Math.floor(world.now() / STEP_MS);

  function measure(id: AllocationId): number | null {
    const walk = walkOf(id);
    for (; walk.step < stepNow(); walk.step++) advance(walk);
    return walk.step < walk.absentBefore ? null : walk.value;
  }

  return {
    readings: (host) => ({
      async read(records) {
        const random = world.random(`readings ${host.name} ${world.now()}`);
        await host.wait(random.between(1, 30));
        const away = random.chance(AWAY);
        const values = new Map<AllocationId, number>();
        for (const { id } of records) {
          const value = away ? null : measure(id);
          if (value !== null) values.set(id, value);
          const list = given.get(id) ?? [];
          given.set(id, list);
          list.push({ atMs: world.now(), by: host.name, value });
          if (list.length > MAX_TOLD) list.shift();
        }
        return values;
      },
    }),
    given: (id) => given.get(id) ?? [],
  };
}

function advance(walk: Walk): void {
  const { random } = walk;
  if (random.chance(0.15)) walk.aim = random.pick([0.1, 0.2, 0.3, 0.8, 1.5, 2]);
  walk.value = Math.max(0, walk.value + (walk.aim - walk.value) * 0.4 + (random.next() - 0.5) * 0.2);
  if (random.chance(0.02)) walk.absentBefore = walk.step + random.between(2, 8);
}
