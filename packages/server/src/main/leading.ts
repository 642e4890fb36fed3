// Starts the candidate for leadership with everything that it runs while it leads: scheduler, controllers, backups on
// schedule, and the capture of traces.

import { type Config, fingerprintWindow } from "../base/config/index.ts";
import type { Logger } from "../base/observe/index.ts";
import { startRecorder } from "../base/observe/recorder.ts";
import { createBroker } from "../lead/controllers/checkpoint/act.ts";
import { isReserved } from "../lead/controllers/scaling/reserved-nodes.ts";
import { createInsight, createMeasuredInputs } from "../lead/insight/index.ts";
import { startLeading } from "../lead/leader/lead.ts";
import { createPlannerLink } from "../lead/planner/link.ts";
import { startThread } from "../lead/planner/thread.ts";
import { createReadings } from "../lead/telemetry/readings.ts";
import { fabricDomains } from "../nodes/fabric/domains.ts";
import { formatPeer, parsePeer } from "../peers/address.ts";
import type { AuditKeyring } from "../peers/audit-keys.ts";
import type { Roster } from "../peers/roster.ts";
import { createBackups } from "../state/backup/index.ts";
import { startBackupSchedule } from "../state/backup/schedule/act.ts";
import { startCaptureSwitch } from "../state/capture/switch.ts";
import type { CloseStack } from "./close-stack.ts";
import type { Nodes } from "./nodes.ts";
import type { Storage } from "./storage.ts";

interface LeadingParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly roster: Roster;
  readonly auditKeys: AuditKeyring;
}

export type Leading = ReturnType<typeof startLead>;

export function startLead(storage: Storage, nodes: Nodes, parts: LeadingParts, stack: CloseStack) {
  const { clock, metrics, replica, live, log, isShared, self, disks } = storage;
  const { config, logger, roster, auditKeys } = parts;
  const recorder = stack.push(startRecorder({ server: config.server.id, readings: metrics.readings, clock, logger }));
  const { broker, insight, planner } = createAdvisors(storage, nodes, parts, recorder.read);
  const leader = stack.push(
    startLeading({
      log,
      replica,
      hub: nodes.hub,
      clock,
      logger,
      metrics,
      insight,
      planner,
      broker,
      candidate: isShared ? formatPeer(self) : config.server.id,
      config: () => live.config,
      fabric: isFabricManaged(config) ? fabricDomains(config.fabric, metrics.fabric) : null,
      scaling: {
        reserved: (node) => isReserved(replica.view, planner.cycles.values(), node),
        probed: nodes.measures.probed,
        readings: createReadings({
          storeUrl: config.telemetry.storeUrl,
          measured: nodes.measures.value,
          logger,
        }),
      },
      launches: nodes.launches,
      readers: roster.readers,
      auditKeys,
      storageFull: () => disks.refusal(),
      refuseEmptyLog: storage.refuseEmptyLog,
      refuseShorterLog: storage.refuseShorterLog,
    }),
  );
  const leads = () => leader.sequencer() !== null;
  stack.push(
    startCaptureSwitch({
      replica,
      leads,
      logger,
      count: metrics.traceLines,
      serverId: config.server.id,
      config: live.config,
      s3: config.backup.s3,
      nowMs: () => clock.now(),
    }),
  );
  const backups = startBackups(storage, parts, leads, stack);
  return { recorder, broker, insight, planner, leader, leads, backups };
}

/** The parts that answer questions about the scheduler; both keep their memory only while this server leads. */
function createAdvisors(
  { clock, metrics, replica, live }: Storage,
  { hub, board, samples }: Nodes,
  { config, logger }: LeadingParts,
  recorded: ReturnType<typeof startRecorder>["read"],
) {
  const view = () => replica.view;
  const evaluated = metrics.checkpointEvaluated;
  const broker = createBroker({ view, clock, board, config: () => live.config, evaluated });
  const measured = createMeasuredInputs({
    view,
    checkpoints: broker,
    fingerprintAt: hub.fingerprintAt,
    fingerprintWindow: fingerprintWindow(config),
    storageMBps: config.scheduling.storageMbPerSecond,
  });
  const planner = createPlannerLink({
    start: startThread,
    replica,
    hub,
    clock,
    logger,
    metrics,
    measured: measured.facts,
    settings: () => ({
      budgetDays: live.config.scheduling.budgetPeriodDays,
      createTenants: live.config.api.autoCreateTenants,
    }),
  });
  const insight = createInsight({ view, clock, planner, measured, checkpoints: broker, samples, recorded });
  return { broker, insight, planner };
}

type FabricConfig = Config & { readonly fabric: NonNullable<Config["fabric"]> };

const isFabricManaged = (config: Config): config is FabricConfig =>
  config.fabric !== null && config.network.driver === "fabric_manager";

function startBackups(
  { clock, metrics, replica, history, audit, log }: Storage,
  { config, logger, version }: LeadingParts,
  leads: () => boolean,
  stack: CloseStack,
) {
  const backups = createBackups({
    config: config.backup,
    cluster: () => replica.view.identity?.id ?? null,
    replica,
    history,
    audit: audit.archive,
    clock,
    logger,
    members: async () => (await log.members()).map(({ id, name }) => ({ id, address: parsePeer(name)?.address ?? "" })),
    serverVersion: version,
  });
  stack.push(startBackupSchedule({ config: config.backup, backups, leads, clock, logger, metrics }));
  return backups;
}
