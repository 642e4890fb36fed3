// The parts that every server runs, leader or not: snapshots of its replica, the connection to the leader, and filling
// gaps of the history and the audit archive from other servers.

import type { Config } from "../base/config/index.ts";
import type { Logger } from "../base/observe/index.ts";
import type { ClusterCheck } from "../peers/check-cluster.ts";
import { createLeaderConnection, type LeaderConnection } from "../peers/leader-connection.ts";
import { historySources, type Roster } from "../peers/roster.ts";
import { startAuditFill } from "../state/audit/fill.ts";
import { startHistoryFill } from "../state/history/fill.ts";
import { startSnapshotter } from "../state/replica/snapshotter.ts";
import type { CloseStack } from "./close-stack.ts";
import type { Storage } from "./storage.ts";

interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  readonly roster: Roster;
  readonly leads: () => boolean;
  readonly cluster: ClusterCheck;
}

export function startFollowing(
  { log, replica, history, audit, clock, peerCredentials, isShared }: Storage,
  { config, logger, roster, leads, cluster }: Parts,
  stack: CloseStack,
): LeaderConnection {
  const snapshotter = startSnapshotter({
    log,
    replica,
    history,
    audit: audit.archive,
    logger,
    everyEntries: config.quorum.snapshotEveryEntries,
    mayTake: () => !isShared || leads(),
  });
  stack.onClose(async () => {
    await snapshotter.now();
    await snapshotter.close();
  });
  const connection = stack.push(
    createLeaderConnection({
      selfId: config.server.id,
      holder: () => log.status().leader,
      clock,
      credentials: peerCredentials,
      cluster,
    }),
  );
  const sources = () => historySources(roster, connection.leader()?.id ?? null);
  stack.push(startHistoryFill({ history, sources, clock, logger }));
  stack.push(startAuditFill({ archive: audit.archive, view: () => replica.view, sources, clock, logger }));
  return connection;
}
