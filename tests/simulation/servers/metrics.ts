// Counts nothing: figures of simulated servers come from the simulation itself.

import type { Metrics } from "@lattice/server";

const ignore = (): void => undefined;

export const noMetrics: Metrics = {
  apiRequest: ignore,
  logAppend: ignore,
  schedulingCycle: ignore,
  schedulingPlacements: ignore,
  event: ignore,
  allocations: ignore,
  nodes: ignore,
  agentsConnected: ignore,
  historyWaiting: ignore,
  onScrape: ignore,
  render: async () => "",
  contentType: "text/plain",
};
