// Puts the rooms of a server together and takes them apart again in the right order: log, history,
// replica, leader, agents, API up; API, agents, leader, snapshot, history, log down.

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { duration, ENTRY_VERSION } from "@lattice/core";
import { apiUrlOf } from "./agents/api-url.ts";
import type { ConnectContext } from "./agents/connect.ts";
import { createAgentHub } from "./agents/hub.ts";
import { createImageRelay } from "./agents/images.ts";
import { createLogRelay } from "./agents/logs.ts";
import { failureRules } from "./agents/report-command.ts";
import { agentService } from "./agents/service.ts";
import { startApi } from "./api/index.ts";
import { startAuditFill } from "./audit/fill.ts";
import { openAudit } from "./audit/open.ts";
import { createBackups, recoverFrom, startBackupSchedule } from "./backup/index.ts";
import { startCaptureSwitch } from "./capture/switch.ts";
import { createCheckpointBoard } from "./checkpoint/board.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Config, createLiveConfig, formatListen, type HowToBegin, logConfigOf, serverId } from "./config/index.ts";
import { createBroker } from "./controllers/checkpoint/act.ts";
import { isPromised } from "./controllers/scaling/promised.ts";
import { fabricManager } from "./fabric/credentials.ts";
import { fabricDomains } from "./fabric/domains.ts";
import { archiveTo } from "./history/archive.ts";
import { startHistoryFill } from "./history/fill.ts";
import { openHistory } from "./history/index.ts";
import { createInsight } from "./insight/index.ts";
import { startLeading } from "./leader/lead.ts";
import { openLog } from "./log/index.ts";
import { createLogArchive } from "./logs/archive.ts";
import { openLogObjects } from "./logs/store.ts";
import { createMetrics, type Logger } from "./observe/index.ts";
import { mirrorState } from "./observe/mirror.ts";
import { startRecorder } from "./observe/recorder.ts";
import { formatPeer, type PeerName, parsePeer, peerToken } from "./peers/address.ts";
import { createApiUrls } from "./peers/api-urls.ts";
import { createDoors } from "./peers/doors.ts";
import { joinByAsking } from "./peers/join.ts";
import { createLeaderLine } from "./peers/line.ts";
import { createMembership } from "./peers/membership.ts";
import { createRoster, historySources } from "./peers/roster.ts";
import { peerService } from "./peers/service.ts";
import { untilGone } from "./peers/until-gone.ts";
import { createPlane } from "./plane.ts";
import { followSettings } from "./replica/follow-settings.ts";
import { openReplica } from "./replica/replica.ts";
import { sayOpened } from "./replica/say-opened.ts";
import { startSnapshotter } from "./replica/snapshotter.ts";
import { createLaunches } from "./tasks/launches.ts";
import { createMeasures } from "./telemetry/measures.ts";
import { createReadings } from "./telemetry/readings.ts";
import { createSamples } from "./telemetry/samples.ts";
import { createTerminalRelay } from "./terminals/relay.ts";
import { channelCredentials } from "./tls/grpc.ts";
import { openTls } from "./tls/open.ts";

/** Heartbeats after which what an agent has measured is no longer believed. */
const MEASURES_BEATS = 4;

export interface RunningServer {
  readonly rest: string;
  readonly grpc: string;
  /** Resolves with the reason when the server cannot go on by itself. */
  readonly failed: Promise<unknown>;
  /** Looks at the certificate files again, at once. */
  reload(): void;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly clock?: Clock;
  /** A backup, by path or s3://bucket/key, from which a new cluster begins. */
  readonly recoverFrom?: string | undefined;
  /** How a log member of our own begins when it has no data yet. */
  readonly begin?: HowToBegin;
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, logger, version } = options;
  const clock = options.clock ?? systemClock;
  const onWarning = (message: string) => logger.warn(message);
  mkdirSync(config.server.dataDir, { recursive: true });

  const metrics = createMetrics();
  const self: PeerName = {
    id: config.server.id,
    address: formatListen(config.api.advertiseGrpc),
    token: peerToken(randomBytes(16).toString("hex"), ENTRY_VERSION),
    entryVersion: ENTRY_VERSION,
  };
  const tls = await openTls(config.api.tls, { logger, metrics });
  const peerCredentials = channelCredentials(tls);
  const begin = joinByAsking(options.begin ?? "resume", config, peerCredentials);
  let letGo: (error: Error) => void = () => {};
  const removed = new Promise<Error>((resolve) => {
    letGo = resolve;
  });
  const logConfig = logConfigOf(config, begin, onWarning, formatPeer(self), letGo);
  if (options.recoverFrom !== undefined) {
    await recoverFrom(options.recoverFrom, { config, log: logConfig, logger, nowMs: clock.now() });
  }
  const began = performance.now();
  const log = await openLog(logConfig.engine === "etcd" ? { ...logConfig, untilGone } : logConfig);
  const shared = config.quorum.engine === "etcd";
  const opened = performance.now();
  const history = await openHistory({ dir: join(config.server.dataDir, "history"), onWarning, alone: !shared });
  const { archive: auditArchive, signer } = await openAudit(config.audit, { nowMs: clock.now(), logger });
  const archive = archiveTo(history, logger);
  const replica = await openReplica(log, (applied) => {
    archive(applied);
    auditArchive.take(applied);
  });
  history.begin(replica.head().index);
  sayOpened(logger, replica, began, opened);
  const live = createLiveConfig({ file: config, settings: () => replica.view.settings(), onWarning });
  followSettings({ live, feed: replica.feed, logger });

  const hub = createAgentHub(clock);
  const logs = createLogRelay(hub, clock);
  const board = createCheckpointBoard();
  const broker = createBroker({
    view: () => replica.view,
    clock,
    board,
    config: () => live.config.checkpoint,
    evaluated: metrics.checkpointEvaluated,
  });
  const samples = createSamples(clock);
  const recorder = startRecorder({ server: config.server.id, readings: metrics.readings, clock, logger });
  const insight = createInsight({
    samples,
    checkpoints: broker,
    view: () => replica.view,
    clock,
    reachable: hub.connected,
    introduced: hub.introduced,
    fingerprintWindow: config.scheduler.fingerprintWindow,
    storageMBps: config.scheduling.storageMBps,
    observeError: metrics.estimateError,
    recorded: recorder.read,
    budgetDays: config.scheduling.budgetPeriodDays,
    get createTenants() {
      return live.config.api.autoCreateTenants;
    },
  });
  replica.feed.onEvents(insight.saw);
  const terminals = createTerminalRelay(hub, clock, {
    get perUser() {
      return live.config.rateLimits.attachMaxConcurrent;
    },
    get idleWarningSeconds() {
      return live.config.sessions.idleTimeout / 1000;
    },
  });
  const images = createImageRelay(hub, clock);
  const measures = createMeasures(clock, duration(MEASURES_BEATS * config.nodeAgent.heartbeatInterval));
  const fabric = config.fabric === null ? null : fabricManager(config.fabric, { logger, counted: metrics.fabric });
  const roster = createRoster({ selfId: config.server.id, present: () => log.present(), credentials: peerCredentials });
  let apiUrl = "";
  const apiUrls = createApiUrls({ own: () => apiUrl, roster, clock });
  const launches = createLaunches({
    servers: apiUrls.list,
    hub,
    clock,
    view: () => replica.view,
    fabric,
    starNodes: () => live.config.tasks.fenceStarNodes,
    ended: metrics.launchEnded,
    takenUp: metrics.launchTakenUp,
  });
  const leader = startLeading({
    candidate: shared ? formatPeer(self) : config.server.id,
    log,
    replica,
    hub,
    clock,
    logger,
    metrics,
    get retention() {
      return live.config.retention;
    },
    backfillDepth: config.scheduling.backfillDepth,
    budgetDays: config.scheduling.budgetPeriodDays,
    get minCycleGap() {
      return duration(live.config.scheduling.minCycleMs);
    },
    get heartbeatTimeout() {
      return live.config.nodeAgent.heartbeatTimeout;
    },
    get gracePeriod() {
      return live.config.nodeAgent.gracePeriod;
    },
    get patience() {
      return live.config.nodeAgent;
    },
    get faults() {
      return live.config.faults;
    },
    get checkpoints() {
      return live.config.checkpoint;
    },
    webhooks: config.notifications.webhooks,
    fabric:
      config.fabric === null || config.network.managed !== true ? null : fabricDomains(config.fabric, metrics.fabric),
    network: config.network,
    makesTokens: config.api.auth.kind === "oidc",
    get limits() {
      return { sensitivePoolSize: live.config.scheduling.sensitivePoolSize };
    },
    scaling: {
      promised: (node) => isPromised(replica.view, insight.cycles.values(), node),
      probed: measures.probed,
      readings: createReadings({ storeUrl: config.telemetry.storeUrl, measured: measures.value, logger }),
    },
    insight,
    launches,
    broker,
    readers: roster.readers,
  });
  const leads = () => leader.sequencer() !== null;
  const captured = { replica, leads, logger, count: metrics.traceLines, serverId: config.server.id };
  const trace = { wanted: () => live.config.scheduler.trace, s3: config.backup.s3, nowMs: () => clock.now() };
  const capture = startCaptureSwitch({ ...captured, ...trace });
  const snapshotter = startSnapshotter({
    log,
    replica,
    history,
    audit: auditArchive,
    logger,
    everyEntries: config.quorum.snapshotEveryEntries,
    mayTake: () => !shared || leads(),
  });
  const line = createLeaderLine({
    selfId: config.server.id,
    holder: () => log.status().leader,
    clock,
    credentials: peerCredentials,
  });
  const fill = startHistoryFill({
    history,
    sources: () => historySources(roster, line.leader()?.id ?? null),
    clock,
    logger,
  });
  const auditFill = startAuditFill({
    archive: auditArchive,
    view: () => replica.view,
    sources: () => historySources(roster, line.leader()?.id ?? null),
    clock,
    logger,
  });
  // With one server, serving before leading would only answer 503; one of several may never lead.
  if (!shared) await Promise.race([leader.led, replica.failed]);
  const standing = {
    serverId: config.server.id,
    version,
    appliedIndex: () => replica.head().index,
    historyThrough: () => history.through(),
    certificate: () => tls?.current() ?? null,
    apiUrl: () => apiUrl,
    ownMember: async () => (await log.shared?.ownMember()) ?? null,
  };
  const membership = createMembership({
    standing,
    address: self.address,
    log,
    leader,
    roster,
    configured: config.quorum.peers.map(({ id, address }) => ({ id: serverId(id), peer: address })),
    logger,
    metrics,
  });
  const backups = createBackups({
    config: config.backup,
    replica,
    history,
    audit: auditArchive,
    members: async () => (await log.members()).map(({ id, name }) => ({ id, address: parsePeer(name)?.address ?? "" })),
    serverVersion: version,
    clock,
    logger,
  });
  const schedule = startBackupSchedule({
    config: config.backup,
    backups,
    leads,
    clock,
    logger,
    metrics,
  });
  let closing = false;
  const plane = createPlane({
    serverId: config.server.id,
    version,
    log,
    replica,
    leader,
    line,
    roster,
    audit: { ...signer, archived: auditArchive.read },
    membership,
    backups,
    hub,
    logs,
    terminals,
    archive: config.logs.store === null ? null : createLogArchive(openLogObjects(config.logs.store, config.logs.s3)),
    images,
    launches,
    closing: () => closing,
    history,
    clock,
    insight,
    recorder,
  });
  const measured = config.telemetry.storeUrl === null ? null : measures.value;
  mirrorState(metrics, { terminals, replica, hub, history, checkpoints: board, leads, measured });

  const { authenticator, jobToken, guard, peerGuard, renew, issueFirst } = createDoors({
    tls,
    config: live.config,
    peerToken: self.token,
    plane,
    clock,
    logger,
    metrics,
  });
  const context: ConnectContext = {
    view: () => replica.view,
    propose: (command) => plane.propose(command),
    hub,
    clock,
    logger,
    serverVersion: version,
    heartbeatIntervalMs: config.nodeAgent.heartbeatInterval,
    stranger: guard.stranger,
    imagesAnswered: images.answered,
    checkpoints: board,
    failures: () => failureRules(live.config.faults),
    ...{ measured: measures.told, sampled: samples.told },
    apiUrl: () => apiUrl,
    jobToken,
  };
  const api = await startApi({
    plane,
    config: live.config,
    logger,
    metrics,
    authenticator,
    tls,
    extraGrpcServices: [
      guard.guarded(agentService({ context, leader, line, logs, terminals, launches, renew, issueFirst })),
      ...(shared
        ? [
            peerGuard(
              peerService({
                ...{ leader, replica, hub, logs, terminals, launches, images, history, standing, insight },
                audit: auditArchive,
                token: self.token,
              }),
            ),
          ]
        : []),
    ],
  });
  apiUrl = apiUrlOf(api.restAddress, self.address, tls !== null);

  return {
    rest: api.restAddress,
    grpc: api.grpcAddress,
    failed: Promise.race([replica.failed.catch((error: unknown) => error), removed]),
    reload: () => tls?.reload(),
    async close() {
      tls?.close();
      closing = true;
      // First: another server takes over at once, and calls under way here are passed on to it.
      await leader.close();
      await schedule.close();
      await recorder.close();
      await api.close();
      line.close();
      await fill.close();
      await auditFill.close();
      apiUrls.close();
      roster.close();
      await snapshotter.now();
      await snapshotter.close();
      await replica.close();
      await capture.close();
      await history.close();
      await auditArchive.close();
      await log.close();
    },
  };
}
