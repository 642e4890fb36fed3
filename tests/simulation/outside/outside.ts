// What stands around the servers and is not part of the cluster: each of these has a will, and troubles, of its own.

import type { World } from "../world/world.ts";
import { createMetricStore, type MetricStore } from "./metrics.ts";

export interface Outside {
  readonly metrics: MetricStore;
}

export const createOutside = (world: World): Outside => ({ metrics: createMetricStore(world) });
