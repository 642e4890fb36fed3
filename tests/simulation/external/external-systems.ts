// External systems that are not part of the cluster, each with its own behaviour and faults.

import type { World } from "../world/world.ts";
import { createFabricManager, type FabricManager } from "./fabric.ts";
import { createMetricStore, type MetricStore } from "./metrics.ts";
import { createHookReceiver, type HookReceiver } from "./receiver.ts";

export interface ExternalSystems {
  readonly metrics: MetricStore;
  readonly fabric: FabricManager;
  readonly receiver: HookReceiver;
}

export const createExternalSystems = (world: World): ExternalSystems => ({
  metrics: createMetricStore(world),
  fabric: createFabricManager(world),
  receiver: createHookReceiver(world),
});
