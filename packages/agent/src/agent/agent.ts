// Assembles an agent from its options: a real node with its data folder, or hollow nodes. Tests and local clusters use it to
// run an agent inside their own process.

import { dirname } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { systemAfter } from "../base/after.ts";
import { HELPER_ENVIRONMENT, spawnSync } from "../base/programs.ts";
import { createClearings } from "../checkpoint/clearings.ts";
import { type Condition, watchCondition } from "../condition/condition.ts";
import { rememberExpected } from "../condition/expected.ts";
import { askLoad } from "../discovery/gpus/load.ts";
import { lookForFaults } from "../discovery/look.ts";
import { type Survey, surveyNode } from "../discovery/survey.ts";
import { heartbeatTimer } from "../link/heartbeat-timer.ts";
import { knownCluster } from "../link/known-cluster.ts";
import type { NodeIdentity } from "../link/messages.ts";
import { findCompressor } from "../logs/ship/compress.ts";
import { logRing } from "../logs/ship/ring.ts";
import { logShipper, type Shipper } from "../logs/ship/shipper.ts";
import { openLogStore } from "../logs/store/store.ts";
import { metricsPage } from "../metrics/page.ts";
import { serveMetrics } from "../metrics/serve.ts";
import { createTally } from "../metrics/tally.ts";
import { uplinkAddresses } from "../network/overlay-filter.ts";
import { startNode } from "../node/node.ts";
import type { AgentNode } from "../node/node-handle.ts";
import type { NodeOptions } from "../node/node-options.ts";
import type { AgentOptions } from "../options/options.ts";
import { processRuntime } from "../runtime/process-runtime.ts";
import { straysIn } from "../state/strays.ts";
import { withStateFile } from "../state/with-state-file.ts";
import { offeredTo } from "../tasks/offered.ts";
import { gpuLoad } from "../telemetry/gpu-load.ts";
import { describeNode, vitals } from "./describe.ts";
import type { Agent, AgentContext } from "./handle.ts";
import { startHollow } from "./hollow-agent.ts";
import { type AgentClosers, type AgentMachine, authorityOf, openMachine } from "./machine.ts";
import { takeSecrets } from "./secrets.ts";
import { openSecurity } from "./security.ts";
import { unfitCluster } from "./unfit-cluster.ts";

export function startAgent(options: AgentOptions, context: AgentContext): Promise<Agent> {
  const environment = takeSecrets(process.env);
  return options.hollow === null
    ? startReal(options, context, environment)
    : startHollow(options, options.hollow, context);
}

/** Workloads that end with the agent get this long to end on their own. */
const EXIT_GRACE_MS = 2_000;
const EXIT_DEADLINE_MS = 5_000;

async function startReal(options: AgentOptions, context: AgentContext, environment: NodeJS.ProcessEnv): Promise<Agent> {
  const { log, version } = context;
  const closing: AgentClosers = [];
  const machine = await openMachine(options, context, closing);
  const { dataDir, bootId, isolation, software } = machine;
  const runtimes = [...software.runtimes, ...machine.facilities.capabilities];
  log.info({ isolation: isolation.kind, runtimes, servers: options.servers }, "agent starting");
  if (software.prologue.isRoot && software.prologue.mapping.kind === "none")
    log.warn("jobs run as root: --user-mapping=none in an agent that runs as root");
  const security = await openSecurity(options, dataDir, log, closing);
  const beats = heartbeatTimer(Math.random);
  closing.push(() => beats.close());
  let page = (): string => "";
  const tally = options.metrics === null ? null : createTally(() => performance.now());
  const metrics = options.metrics === null ? null : await serveMetrics(options.metrics, () => page(), log);
  const facts = { version, bootId, isolation: isolation.kind, hollow: false, runtimes };
  const identity = ({ hardware, conformance }: Survey): NodeIdentity =>
    describeNode(options, hardware, {
      ...facts,
      conformance,
      peerAddress: security.peers?.address ?? "",
      overlayAddresses: uplinkAddresses(options.software.networkUplink),
    });
  const clearings = createClearings({
    dataDir,
    outputRoot: options.software.outputDir,
    files: software.prologue.files,
    now: Date.now,
    after: systemAfter,
    log,
  });
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  let apiUrl = "";
  let condition: Condition | null = null;
  const node: AgentNode = await startNode({
    ...machineOptions(options, machine, { log, environment, apiUrl: () => apiUrl }),
    identity: identity(machine.first),
    cluster: knownCluster(dataDir),
    renewed: () => (condition === null ? {} : identity(machine.latest())),
    examine: async (fresh) => {
      if (condition === null) throw new Error("the agent is starting");
      return condition.describe(fresh);
    },
    dialer: security.dialer,
    heartbeatTimer: beats,
    vitals: () => ({ ...vitals(), certificateEndsMs: security.certificateEnd() }),
    ...(tally === null ? {} : { tally }),
    peers: security.peers,
    clear: clearings.add,
    networkPeers: (peers) =>
      void software.prologue.network
        .peers(peers)
        .catch((error: Error) =>
          log.error({ vni: peers.vni, error: error.message }, "overlay of a network domain not updated"),
        ),
    objection: (welcome) => {
      const why = unfitCluster(options.software, welcome);
      if (why !== null) fail(why);
      return why;
    },
    welcomed: (welcome) => {
      apiUrl = welcome.apiUrl;
      if (condition !== null && machine.latest().faults.length > 0)
        node.sendCondition(reportOf(machine.latest(), identity));
    },
  });
  if (tally !== null)
    page = () =>
      metricsPage({
        nodeId: options.nodeId,
        version,
        tally,
        vitals,
        certificateEndsMs: security.certificateEnd,
        node: () => node.counts(),
        connected: () => node.connected(),
        hellos: () => node.hellos(),
        cache: () => software.images.cache.status(),
        refused: software.prologue.users.refused,
        faults: () => machine.latest().faults.length,
        internalErrors: context.internalErrors ?? (() => 0),
      });
  condition = watchMachine(options, machine, log, (found) => node.sendCondition(reportOf(found, identity)));
  machine.watch(condition);
  const renewal = security.startRenewal();
  return {
    connected: () => Number(node.connected()),
    live: () => node.live(),
    failed,
    async close() {
      metrics?.close();
      renewal?.close();
      await condition?.close();
      clearings.close();
      if (options.killWorkloadsOnExit) await node.stopAll("the agent stops", EXIT_GRACE_MS, EXIT_DEADLINE_MS);
      await node.close();
      await software.prologue.gpus?.close();
      software.prologue.files.close();
      for (const close of closing.toReversed()) await close();
    },
  };
}

interface MachineContext {
  readonly log: Logger;
  /** As the agent was started with it, with its secrets. */
  readonly environment: NodeJS.ProcessEnv;
  readonly apiUrl: () => string;
}

/** The options of a node that depend on the machine alone. */
function machineOptions(options: AgentOptions, machine: AgentMachine, { log, environment, apiUrl }: MachineContext) {
  const { dataDir, bootId, isolation, limits, software, stateFile, facilities, sources } = machine;
  const { nodeId } = options;
  const ca = authorityOf(options);
  const node = dirname(process.execPath);
  const runtime: NodeOptions["runtime"] = async (listener) => {
    const place = { nodeId, bootId, dataDir, isolation, limits };
    const offered = () => offeredTo({ apiUrl: apiUrl(), programs: facilities.programs, node, ca });
    const made = await processRuntime({ ...place, prologue: software.prologue, log, listener, offered });
    const strays = straysIn(stateFile.before, place);
    return withStateFile(made, { file: stateFile, strays, files: software.prologue.files, log });
  };
  const hasGpus = machine.first.hardware.gpuCount > 0;
  return {
    ...(hasGpus ? { gpus: gpuLoad({ ask: () => askLoad(sources), now: Date.now }) } : {}),
    images: software.images,
    member: 0,
    random: Math.random,
    now: Date.now,
    log,
    keepTimes: true,
    shipper: shipperOf(options.logs, { node: nodeId, dataDir, log }, environment),
    runtime,
    facilities,
    checkpointDir: options.software.outputDir,
  };
}

function watchMachine(
  options: AgentOptions,
  { first, expected, sources, dataDir, bootId }: AgentMachine,
  log: Logger,
  onSurvey: (found: Survey) => void,
): Condition {
  return watchCondition({
    first,
    expected,
    units: options.hardware.gpuCount ?? 0,
    survey: (known) => surveyNode(options.hardware, sources, known),
    look: (last, known) => lookForFaults(sources, last, known),
    remember: (known) => rememberExpected(dataDir, bootId, known),
    onSurvey,
    fingerprintEveryMs: options.discovery.fingerprintEveryMs,
    lookEveryMs: options.discovery.lookEveryMs,
    now: Date.now,
    after: systemAfter,
    log,
  });
}

function reportOf(found: Survey, identity: (found: Survey) => NodeIdentity): pb.ConditionReport {
  const { conformance, capabilities } = identity(found);
  return create(pb.ConditionReportSchema, {
    conformance,
    faults: [...found.faults],
    ...(capabilities === undefined ? null : { capabilities }),
  });
}

/** Throws when there is no such group. */
function groupId(name: string): number {
  const { stdout } = spawnSync("getent", ["group", name], { timeout: LOOK_UP_MS, env: HELPER_ENVIRONMENT });
  const gid = String(stdout ?? "").split(":")[2];
  if (gid === undefined || gid === "") throw new Error(`--log-store-group: there is no group ${name} on this node`);
  return Number(gid);
}

const LOOK_UP_MS = 10_000;

/** Throws when the store cannot be used: a site must not rely on it in vain. */
function shipperOf(
  { store: place, group, mayBeOpen, limits }: AgentOptions["logs"],
  of: { readonly node: string; readonly dataDir: string; readonly log: Logger },
  environment: NodeJS.ProcessEnv,
): Shipper {
  if (place === null) return logRing({ ...of, limits, now: Date.now });
  const compress = findCompressor();
  if (!compress.ok) throw new Error(compress.error);
  const store = openLogStore(place, environment, { gid: group === null ? null : groupId(group), mayBeOpen });
  return logShipper({ ...of, store, compress: compress.value, limits, now: Date.now });
}
