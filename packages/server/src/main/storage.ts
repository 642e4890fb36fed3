// Opens what a server stores: the log, the history, the audit archive, and the replica that follows the log. Also the
// identity of this server among its peers, and the configuration in force, which the replica changes.

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { ENTRY_VERSION, type LogIndex } from "@lattice/core";
import { parseS3 } from "@lattice/wire";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Config, createLiveConfig, formatListen, type LiveConfig } from "../base/config/index.ts";
import { createMetrics, type Logger, type Metrics } from "../base/observe/index.ts";
import { channelCredentials } from "../base/tls/grpc.ts";
import { openTls } from "../base/tls/open.ts";
import type { TlsSource } from "../base/tls/source.ts";
import { openLog, type ReplicatedLog } from "../log/index.ts";
import { logConfigOf } from "../log/log-config.ts";
import { formatPeer, type PeerName, peerToken } from "../peers/address.ts";
import { joinByAsking } from "../peers/join.ts";
import { untilGone } from "../peers/until-gone.ts";
import { openAudit } from "../state/audit/open.ts";
import { recoverFrom } from "../state/backup/index.ts";
import { DiskWatch, type WatchedFolder } from "../state/disks/watch.ts";
import { archiveTo } from "../state/history/archive.ts";
import { type History, openHistory } from "../state/history/index.ts";
import { openKnownEnd } from "../state/known-end.ts";
import { keepingOwn, type OwnCluster, openOwnCluster, watchCluster } from "../state/own-cluster.ts";
import { followSettings } from "../state/replica/follow-settings.ts";
import { openReplica, type Replica } from "../state/replica/replica.ts";
import type { CloseStack } from "./close-stack.ts";
import type { ServerOptions } from "./options.ts";

export interface Storage {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly self: PeerName;
  readonly tls: TlsSource | null;
  readonly peerCredentials: ChannelCredentials;
  readonly log: ReplicatedLog;
  /** Several servers share the log. */
  readonly isShared: boolean;
  readonly history: History;
  readonly audit: Awaited<ReturnType<typeof openAudit>>;
  readonly replica: Replica;
  readonly live: LiveConfig;
  readonly disks: DiskWatch;
  /** Throws, and ends the server, when the log is empty although this server belongs to a cluster. */
  readonly refuseEmptyLog: () => void;
  /** Throws, and ends the server, when the log ends before an entry that this server has applied. */
  readonly refuseShorterLog: (end: LogIndex) => Promise<void>;
  /** Resolves when this server cannot be part of the cluster any more: removed, data lost, or another cluster. */
  readonly expelled: Promise<Error>;
}

export async function openStorage(options: ServerOptions, stack: CloseStack): Promise<Storage> {
  const { config, logger } = options;
  const clock = options.clock ?? systemClock;
  const metrics = createMetrics();
  const onWarning = (message: string) => logger.warn(message);
  mkdirSync(config.server.dataDir, { recursive: true });
  const disks = stack.push(await openDisks(config, { clock, metrics, logger }));
  const self: PeerName = {
    id: config.server.id,
    address: formatListen(config.api.advertiseGrpc),
    token: peerToken(randomBytes(16).toString("hex"), ENTRY_VERSION),
    entryVersion: ENTRY_VERSION,
  };
  const tls = await openTls(config.api.tls, { logger, metrics });
  stack.onClose(() => tls?.close());
  const peerCredentials = channelCredentials(tls);
  const own = openOwnCluster(config.server.dataDir);
  const { log, expelled, expel, openedAt } = await openOwnLog(options, {
    self,
    peerCredentials,
    tls,
    own,
    nowMs: clock.now(),
  });
  stack.push(log);
  const isShared = config.quorum.engine === "etcd";
  const dir = join(config.server.dataDir, "history");
  const history = stack.push(await openHistory({ dir, onWarning, alone: !isShared }));
  const audit = await openAudit(config.audit, { nowMs: clock.now(), logger });
  stack.push(audit.archive);
  const watch = watchCluster(own, expel);
  const first = keepingOwn(watch, archiveTo(history, logger), (applied) => audit.archive.take(applied));
  const replica = stack.push(await openReplica(log, first));
  watch.meet(replica.view.identity);
  const knownEnd = stack.push(openKnownEnd({ dataDir: config.server.dataDir, replica, clock }));
  await knownEnd.refuseShorter(log.status().lastIndex);
  history.begin(replica.head().index);
  const stateMs = Math.round(performance.now() - openedAt);
  logger.info({ index: replica.head().index, stateMs }, "replica restored");
  const live = createLiveConfig({ file: config, settings: () => replica.view.settings(), onWarning });
  followSettings({ live, feed: replica.feed, logger });
  return {
    clock,
    metrics,
    self,
    tls,
    peerCredentials,
    log,
    isShared,
    history,
    audit,
    replica,
    live,
    disks,
    expelled,
    refuseEmptyLog: watch.refuseEmptyLog,
    refuseShorterLog: (end) =>
      knownEnd.refuseShorter(end).catch((error: Error) => {
        expel(error);
        throw error;
      }),
  };
}

async function openOwnLog(
  { config, logger, begin = "resume", recoverFrom: backup }: ServerOptions,
  parts: Pick<Storage, "self" | "peerCredentials" | "tls"> & { readonly own: OwnCluster; readonly nowMs: number },
) {
  let expel: (error: Error) => void = () => {};
  const expelled = new Promise<Error>((resolve) => {
    expel = resolve;
  });
  const identity = { credentials: parts.peerCredentials, tls: parts.tls?.current() ?? null };
  const logConfig = logConfigOf(
    config,
    joinByAsking(begin, { config, identity, own: parts.own.stored(), logger }),
    (message) => logger.warn(message),
    formatPeer(parts.self),
    (error) => expel(error),
  );
  if (backup !== undefined)
    await recoverFrom(backup, { config, log: logConfig, logger, nowMs: parts.nowMs, own: parts.own.stored() });
  const startedAt = performance.now();
  const log = await openLog(logConfig.engine === "etcd" ? { ...logConfig, untilGone } : logConfig);
  const openedAt = performance.now();
  logger.info({ logMs: Math.round(openedAt - startedAt) }, "log opened");
  return { log, expelled, expel, openedAt };
}

const openDisks = (
  config: Config,
  { clock, metrics, logger }: { readonly clock: Clock; readonly metrics: Metrics; readonly logger: Logger },
): Promise<DiskWatch> =>
  new DiskWatch({
    serverId: config.server.id,
    folders: foldersOf(config),
    clock,
    logger,
    measured: metrics.disk,
  }).start();

function foldersOf({ server, quorum, audit, backup, logs }: Config): readonly WatchedFolder[] {
  const { engine, dataDir, etcd } = quorum;
  const keepsLog = engine === "embedded" || (engine === "etcd" && etcd.managed);
  const history = join(server.dataDir, "history");
  return [
    // Without a log of its own, a server still needs its data folder.
    { name: "log", path: keepsLog ? dataDir : server.dataDir },
    { name: "history", path: history },
    { name: "audit", path: audit.dir },
    ...local("backup", backup.destination),
    ...local("output", logs.store),
  ];
}

/** An object store has no disk here. */
const local = (name: WatchedFolder["name"], place: string | null): readonly WatchedFolder[] =>
  place === null || parseS3(place) !== null ? [] : [{ name, path: place }];
