// Wires the records of other clusters and of lost entries: every server and agent of another cluster is logged, counted
// and raised as a notice; entries that agents know and this server does not have are logged and counted.

import type { RaiseNoticeCommand } from "@lattice/core";
import type { Logger } from "../base/observe/index.ts";
import type { ClusterCheck } from "../peers/check-cluster.ts";
import { createForeignClusters, type ForeignClusters } from "../state/foreign-clusters.ts";
import { createMissingEntries, type MissingEntries } from "../state/missing-entries.ts";
import type { Storage } from "./storage.ts";

export const watchForeign = (
  { replica, metrics, clock }: Storage,
  logger: Logger,
  propose: (command: RaiseNoticeCommand) => Promise<unknown>,
): ForeignClusters =>
  createForeignClusters({ view: () => replica.view, propose, counted: metrics.foreignRefused, clock, logger });

export const watchMissing = ({ replica, metrics, clock }: Storage, logger: Logger): MissingEntries =>
  createMissingEntries({
    appliedIndex: () => replica.head().index,
    measured: metrics.missingEntries,
    clock,
    logger,
  });

/** For calls between servers, at both ends. */
export const checkBetweenServers = ({ replica }: Storage, foreign: ForeignClusters): ClusterCheck => ({
  own: () => replica.view.identity,
  refused: ({ cluster, address, text }) => void foreign.refused({ peer: "server", subject: address, cluster, text }),
});
