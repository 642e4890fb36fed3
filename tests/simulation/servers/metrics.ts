// Counts nothing: figures of simulated servers come from the simulation itself.

import type { Metrics } from "@lattice/server";

const ignore = (): void => undefined;

export const noMetrics: Metrics = {
  apiRequest: ignore,
  logAppend: ignore,
  schedulingCycle: ignore,
  estimateError: ignore,
  traceLines: ignore,
  schedulingPlan: ignore,
  schedulingPreemption: ignore,
  queueDepth: ignore,
  event: ignore,
  allocations: ignore,
  heldBack: ignore,
  dags: ignore,
  nodes: ignore,
  agentsConnected: ignore,
  membershipChange: ignore,
  leadershipTransfer: ignore,
  leading: ignore,
  historyWaiting: ignore,
  historyGap: ignore,
  terminalsOpen: ignore,
  output: ignore,
  backup: ignore,
  launchEnded: ignore,
  webhook: ignore,
  networks: ignore,
  scaled: ignore,
  metricQueryFailed: ignore,
  notices: ignore,
  rateLimited: ignore,
  streamStalled: ignore,
  onScrape: ignore,
  render: async () => "",
  contentType: "text/plain",
};
