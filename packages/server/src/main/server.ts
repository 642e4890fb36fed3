// A server process: opens its storage, starts the parts of a leader and of a follower, and serves. Parts are pushed on a
// stack when they open and closed in reverse. Leadership ends before everything else, so that another server takes over
// at once and running calls here are forwarded to it.

import { setTimeout as sleep } from "node:timers/promises";
import type { Command, RaiseNoticeCommand } from "@lattice/core";
import { serverId } from "../base/config/index.ts";
import type { Logger } from "../base/observe/index.ts";
import { apiUrlOf } from "../nodes/agents/api-url.ts";
import { createOutputArchive } from "../nodes/output/archive.ts";
import { openOutputObjects } from "../nodes/output/store.ts";
import { parsePeer } from "../peers/address.ts";
import { createApiUrls } from "../peers/api-urls.ts";
import { type AuditKeyring, createAuditKeyring } from "../peers/audit-keys.ts";
import type { ClusterCheck } from "../peers/check-cluster.ts";
import { DivergenceWatch } from "../peers/divergence-watch.ts";
import { type MemberStatusSources, otherStatuses, stateOf } from "../peers/member-status.ts";
import { createMembership } from "../peers/membership.ts";
import { createRoster, type Roster } from "../peers/roster.ts";
import { createForeignClusters, type ForeignClusters } from "../state/foreign-clusters.ts";
import { createMissingEntries, type MissingEntries } from "../state/missing-entries.ts";
import { type CloseStack, createCloseStack } from "./close-stack.ts";
import { startFollowing } from "./following.ts";
import { type Leading, startLead } from "./leading.ts";
import { createNodes, type Nodes } from "./nodes.ts";
import type { RunningServer, ServerOptions } from "./options.ts";
import { createPlane, type PlaneParts } from "./plane.ts";
import { serve } from "./serve.ts";
import { mirrorState } from "./state-metrics.ts";
import { openStorage, type Storage } from "./storage.ts";

/** A failed start must report its error soon, even when a part cannot be closed. */
const CLOSE_AFTER_FAILURE_MS = 5_000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const stack = createCloseStack();
  try {
    return await start(options, stack);
  } catch (error) {
    await Promise.race([stack.close().catch(() => undefined), sleep(CLOSE_AFTER_FAILURE_MS, null, { ref: false })]);
    throw error;
  }
}

async function start(options: ServerOptions, stack: CloseStack): Promise<RunningServer> {
  const { config, logger, version } = options;
  const storage = await openStorage(options, stack);
  const { log, replica, tls, self, clock } = storage;
  const foreign = watchForeign(storage, logger, async (command) => plane.propose(command));
  const missing = stack.push(watchMissing(storage, logger));
  const cluster = checkBetweenServers(storage, foreign);
  const roster = stack.push(
    createRoster({ selfId: self.id, present: () => log.present(), credentials: storage.peerCredentials, cluster }),
  );
  let apiUrl = "";
  const apiUrls = stack.push(createApiUrls({ own: () => apiUrl, roster, clock }));
  const nodes = createNodes(storage, { config, logger, apiUrls });
  const auditKeys = stack.push(openKeyring(storage, { logger, roster }));
  const leading = startLead(storage, nodes, { config, logger, version, roster, auditKeys }, stack);
  const { leader, leads } = leading;
  const connection = startFollowing(storage, { config, logger, roster, leads, cluster }, stack);
  // A single server waits until it leads, but not for space on its disk; one of several may never lead.
  if (!storage.isShared && storage.disks.refusal() === null)
    await Promise.race([leader.led, replica.failed, storage.expelled.then(refuse)]);
  const divergence = stack.push(
    watchDivergence({ storage, logger, leading, roster, propose: (command) => plane.propose(command) }),
  );
  const status = statusOf(storage, divergence, version, () => apiUrl);
  const parts = { storage, nodes, leading, connection, roster, divergence, status, auditKeys, foreign };
  const plane = createPlane(planeParts(options, parts));
  storage.disks.report({ view: () => replica.view, propose: plane.propose });
  mirrorNodeState(options, storage, nodes, leads);
  const serving = {
    config,
    logger,
    version,
    storage,
    nodes,
    leading,
    connection,
    plane,
    status,
    cluster,
    foreign,
    missing,
  };
  const api = stack.push(await serve(serving));
  apiUrl = apiUrlOf(api.restAddress, self.address, tls !== null);
  return {
    rest: api.restAddress,
    grpc: api.grpcAddress,
    failed: Promise.race([replica.failed.catch((error: unknown) => error), storage.expelled]),
    reload: () => tls?.reload(),
    async close() {
      await leader.close();
      await stack.close();
    },
  };
}

function refuse(reason: Error): never {
  throw reason;
}

const statusOf = (
  { replica, history, tls, log, self }: Storage,
  divergence: Pick<DivergenceWatch, "found">,
  version: string,
  apiUrl: () => string,
) =>
  ({
    serverId: self.id,
    version,
    appliedIndex: () => replica.head().index,
    historyThrough: () => history.through(),
    certificate: () => tls?.current() ?? null,
    apiUrl,
    ownMember: async () => (await log.shared?.ownMember()) ?? null,
    stateMarks: replica.stateMarks,
    diverged: () => divergence.found() !== null,
  }) satisfies MemberStatusSources;

type Started = Pick<PlaneParts, "roster" | "divergence"> & {
  readonly foreign: ForeignClusters;
  readonly storage: Storage;
  readonly nodes: Nodes;
  readonly leading: ReturnType<typeof startLead>;
  readonly connection: ReturnType<typeof startFollowing>;
  readonly status: MemberStatusSources;
  readonly auditKeys: AuditKeyring;
};

function planeParts({ config, logger, version }: ServerOptions, started: Started): PlaneParts {
  const { storage, nodes, leading, connection, roster, divergence, status, auditKeys, foreign } = started;
  const { log, replica, history, audit, clock, metrics, self, disks, live } = storage;
  const { leader, backups, insight, planner, recorder } = leading;
  const { hub, logs, terminals, images, launches } = nodes;
  return {
    serverId: self.id,
    version,
    log,
    replica,
    leader,
    connection,
    roster,
    divergence,
    disks,
    history,
    clock,
    backups,
    insight,
    budgetDays: () => live.config.scheduling.budgetPeriodDays,
    planner,
    recorder,
    hub,
    logs,
    terminals,
    images,
    launches,
    audit: { prepareKey: auditKeys.prepare, archived: (from) => audit.archive.read(from) },
    archive:
      config.logs.store === null ? null : createOutputArchive(openOutputObjects(config.logs.store, config.logs.s3)),
    membership: createMembership({
      status,
      address: self.address,
      log,
      leader,
      roster,
      foreign,
      logger,
      metrics,
      configured: config.quorum.peers.map(({ id, address }) => ({ id: serverId(id), peer: address })),
    }),
  };
}

function mirrorNodeState({ config }: ServerOptions, storage: Storage, nodes: Nodes, leads: () => boolean): void {
  const { metrics, replica, history } = storage;
  const { terminals, hub, board, measures } = nodes;
  const measured = config.telemetry.storeUrl === null ? null : measures.value;
  mirrorState(metrics, { terminals, replica, hub, history, checkpoints: board, leads, measured });
}

const openKeyring = (
  { audit, replica, log, clock }: Storage,
  { logger, roster }: { readonly logger: Logger; readonly roster: Roster },
): AuditKeyring =>
  createAuditKeyring({
    store: audit.keys,
    view: () => replica.view,
    others: roster.others,
    client: roster.client,
    members: () => Math.max(1 + roster.others().length, log.shared?.known().length ?? 1),
    clock,
    logger,
  });

// Wires the records of other clusters and of lost entries: every server and agent of another cluster is logged, counted
// and raised as a notice; entries that agents know and this server does not have are logged and counted.

const watchForeign = (
  { replica, metrics, clock }: Storage,
  logger: Logger,
  propose: (command: RaiseNoticeCommand) => Promise<unknown>,
): ForeignClusters =>
  createForeignClusters({ view: () => replica.view, propose, counted: metrics.foreignRefused, clock, logger });

const watchMissing = ({ replica, metrics, clock }: Storage, logger: Logger): MissingEntries =>
  createMissingEntries({
    appliedIndex: () => replica.head().index,
    measured: metrics.missingEntries,
    clock,
    logger,
  });

/** For calls between servers, at both ends. */
const checkBetweenServers = ({ replica }: Storage, foreign: ForeignClusters): ClusterCheck => ({
  own: () => replica.view.identity,
  refused: ({ cluster, address, text }) => void foreign.refused({ peer: "server", subject: address, cluster, text }),
});

const STATUS_TIMEOUT_MS = 2_000;

interface Parts {
  readonly storage: Storage;
  readonly logger: Logger;
  readonly leading: Pick<Leading, "leader" | "leads">;
  readonly roster: Roster;
  readonly propose: (command: Command) => Promise<unknown>;
}

function watchDivergence({ storage, logger, leading, roster, propose }: Parts): DivergenceWatch {
  const { self, replica, log, clock, metrics, isShared } = storage;
  const isKnown = (id: string): boolean => log.shared?.known().some((server) => server.id === id) === true;
  const watch = new DivergenceWatch({
    selfId: self.id,
    ownMarks: replica.stateMarks,
    others: async () => (await otherStatuses(roster, STATUS_TIMEOUT_MS)).map(stateOf),
    leaderId: () => parsePeer(log.status().leader ?? "")?.id ?? null,
    leads: leading.leads,
    isMember: (id) => roster.others().some((other) => other.id === id) || isKnown(id),
    giveUpLead: () => leading.leader.close(),
    view: () => replica.view,
    propose,
    clock,
    logger,
    metrics,
  });
  return isShared ? watch.start() : watch;
}
