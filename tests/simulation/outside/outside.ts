// What stands around the servers and is not part of the cluster: each of these has a will, and troubles, of its own.

import type { World } from "../world/world.ts";
import { createFabricManager, type FabricManager } from "./fabric.ts";
import { createMetricStore, type MetricStore } from "./metrics.ts";
import { createHookReceiver, type HookReceiver } from "./receiver.ts";

export interface Outside {
  readonly metrics: MetricStore;
  readonly fabric: FabricManager;
  readonly receiver: HookReceiver;
}

export const createOutside = (world: World): Outside => ({
  metrics: createMetricStore(world),
  fabric: createFabricManager(world),
  receiver: createHookReceiver(world),
});
