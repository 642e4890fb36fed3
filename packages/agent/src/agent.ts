// Puts an agent together from its options: a real node with its data folder, or hollow ones. Also
// what tests and local clusters use to have an agent inside their own process.

import { chmod, mkdir, realpath } from "node:fs/promises";
import { freemem, hostname, loadavg } from "node:os";
import { dirname, join, resolve } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { systemAfter } from "./after.ts";
import { createClearings } from "./checkpoint/clearings.ts";
import { type Condition, watchCondition } from "./condition/condition.ts";
import { recallExpected, rememberExpected } from "./condition/expected.ts";
import { components, fingerprint } from "./discovery/fingerprint.ts";
import { NO_GPUS } from "./discovery/gpus/inventory.ts";
import { askLoad } from "./discovery/gpus/load.ts";
import { discoverBootId, discoverHardware, type Hardware } from "./discovery/hardware.ts";
import { lookForFaults } from "./discovery/look.ts";
import { type Sources, type Survey, surveyNode } from "./discovery/survey.ts";
import { sysfs } from "./discovery/sysfs.ts";
import { keepCensus } from "./hollow/census.ts";
import { NODES_PER_CHANNEL, startHollowNodes } from "./hollow/hollow.ts";
import { askServers } from "./identity/ask.ts";
import { askForFirst } from "./identity/ask-first.ts";
import { credentialsOf } from "./identity/credentials.ts";
import { endOf } from "./identity/end.ts";
import type { IdentityFiles } from "./identity/files.ts";
import { findIdentity, type IdentityOptions } from "./identity/find.ts";
import { firstIdentity } from "./identity/first.ts";
import { keptIn } from "./identity/kept.ts";
import { type AskedCertificate, keepRenewed } from "./identity/renew.ts";
import { dialer, parseServer } from "./link/dial.ts";
import { hundredths, identityOf } from "./link/messages.ts";
import { wheel } from "./link/wheel.ts";
import { lockDataDir, lockStateFile } from "./lock.ts";
import { findCompressor } from "./logs/ship/compress.ts";
import { logRing } from "./logs/ship/ring.ts";
import { logShipper, type Shipper } from "./logs/ship/shipper.ts";
import { openLogStore } from "./logs/store/store.ts";
import { metricsPage } from "./metrics/page.ts";
import { serveMetrics } from "./metrics/serve.ts";
import { createTally } from "./metrics/tally.ts";
import { startNode } from "./node.ts";
import type { Node } from "./node-handle.ts";
import type { AgentOptions } from "./options.ts";
import { detectIsolation, detectLimits } from "./runtime/isolation/detect.ts";
import type { Isolation } from "./runtime/isolation/isolation.ts";
import type { Inside } from "./runtime/isolation/node-shares.ts";
import { processRuntime } from "./runtime/process/process-runtime.ts";
import { openSoftware } from "./software.ts";
import { openStateFile } from "./state/state-file.ts";
import { straysIn } from "./state/strays.ts";
import { withStateFile } from "./state/with-state-file.ts";
import { findFacilities } from "./tasks/facilities.ts";
import { fencePeers } from "./tasks/fence/peers.ts";
import { trustOf } from "./tasks/fence/trust.ts";
import { offeredTo } from "./tasks/offered.ts";
import { gpuLoad } from "./telemetry/gpu-load.ts";

export interface Agent {
  /** How many of its nodes are connected now. */
  connected(): number;
  /** Attempts that are not over yet. */
  live(): number;
  /** Leaves workloads running, unless they are to end with the agent. */
  close(): Promise<void>;
}

export interface AgentSurroundings {
  readonly log: Logger;
  readonly version: string;
  /** For tests: the kind of isolation to use instead of the best there is. */
  readonly isolation?: Isolation["kind"];
}

export function startAgent(options: AgentOptions, around: AgentSurroundings): Promise<Agent> {
  return options.hollow === null ? startReal(options, around) : startHollow(options, options.hollow, around);
}

async function startReal(options: AgentOptions, { log, version, isolation: kind }: AgentSurroundings): Promise<Agent> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o711 });
  const dataDir = await realpath(options.dataDir);
  // Passed through by the users of jobs on the way to what belongs to them; never listed.
  await chmod(dataDir, 0o711).catch(() => undefined);
  const unlock = await lockDataDir(dataDir);
  const statePath = options.stateFile === "" ? join(dataDir, "agent-state.json") : resolve(options.stateFile);
  const unlockState = await lockStateFile(statePath);
  const bootId = discoverBootId();
  const scratch = options.software.scratchDir || join(dataDir, "scratch");
  const sources: Sources = { ...options.discovery, scratch, fs: sysfs() };
  const expected = recallExpected(dataDir, bootId);
  const first = await surveyNode(options.hardware, sources, expected);
  for (const warning of first.warnings) log.warn({ warning }, "GPUs cannot be looked for");
  let condition: Condition | null = null;
  const isolation = detectIsolation({ nodeId: options.nodeId, dataDir }, kind);
  const limits = await detectLimits({ nodeId: options.nodeId, dataDir }, isolation, first.hardware.gpuCount > 0);
  const software = await openSoftware(
    { ...options.software, unifiedMemory: options.software.unifiedMemory || first.unified },
    {
      nodeId: options.nodeId,
      dataDir,
      bootId,
      limits,
      inside: () => insideOf(condition?.latest() ?? first),
      log,
    },
  );
  const stateFile = openStateFile({
    path: statePath,
    of: { node: options.nodeId, boot_id: bootId, data_dir: dataDir, isolation: isolation.kind },
    log,
  });
  const facilities = await findFacilities(dataDir);
  const runtimes = [...software.runtimes, ...facilities.capabilities];
  log.info({ isolation: isolation.kind, runtimes, servers: options.servers }, "starting");
  const found = await findIdentity(keepingIn(options.identity, keptIn(dataDir)), log, {
    first: () => firstFor(options, dataDir, log),
    token: options.token !== undefined,
  });
  const identitySource = found?.source ?? null;
  const how = credentialsOf(identitySource, options.secure, options.identity.authority);
  const certificateEnd = endOf(identitySource);
  const trust = trustOf(identitySource, options.secure);
  if (options.peerListen !== "" && typeof trust === "string")
    log.warn({ problem: trust }, "large launches exchange addresses through the servers instead of among agents");
  const mayListen = options.peerListen !== "" && typeof trust !== "string";
  const peers = mayListen ? await fencePeers(options.peerListen, peerHost(options.peerListen), trust) : null;
  const dial = dialer({ servers: options.servers, token: options.token, credentials: how });
  const beats = wheel(Math.random);
  let page = (): string => "";
  const tally = options.metrics === null ? null : createTally(() => performance.now());
  const metrics = options.metrics === null ? null : await serveMetrics(options.metrics, () => page(), log);
  let apiUrl = "";
  const facts = { version, bootId, isolation: isolation.kind, hollow: false, runtimes };
  const identityBy = (found: Survey) =>
    identity(options, found.hardware, { ...facts, conformance: found.conformance, peerAddress: peers?.address ?? "" });
  const clearings = createClearings({
    dataDir,
    outputRoot: options.software.outputDir,
    ownerOf: (user) => software.prologue.users.find(software.prologue.mapping, user),
    now: Date.now,
    after: systemAfter,
    log,
  });
  const node = await startNode({
    identity: identityBy(first),
    renewed: () => (condition === null ? {} : identityBy(condition.latest())),
    examine: async (fresh) => {
      if (condition === null) throw new Error("the agent is only just starting");
      return condition.describe(fresh);
    },
    ...(first.hardware.gpuCount > 0 ? { gpus: gpuLoad({ ask: () => askLoad(sources), now: Date.now }) } : {}),
    images: software.images,
    dialer: dial,
    member: 0,
    wheel: beats,
    random: Math.random,
    now: Date.now,
    log,
    vitals: () => ({ ...vitals(), certificateEndsMs: certificateEnd() }),
    keepTimes: true,
    ...(tally === null ? {} : { tally }),
    shipper: shipperOf(options.logs, { node: options.nodeId, dataDir, log }),
    runtime: async (listener) => {
      const { prologue } = software;
      const ca = options.identity.files?.ca ?? options.identity.authority ?? undefined;
      const offered = () => offeredTo({ apiUrl, programs: facilities.programs, node: dirname(process.execPath), ca });
      const { nodeId } = options;
      const place = { nodeId, bootId, dataDir, isolation, limits };
      const made = await processRuntime({ ...place, prologue, log, listener, offered });
      return withStateFile(made, stateFile, straysIn(stateFile.before, place), log);
    },
    facilities,
    peers,
    checkpointDir: options.software.outputDir,
    clear: clearings.add,
    welcomed: (welcome) => {
      apiUrl = welcome.apiUrl;
      if (condition !== null && condition.latest().faults.length > 0) tell(condition.latest());
    },
  });
  if (tally !== null)
    page = () =>
      metricsPage({
        ...{ nodeId: options.nodeId, version, tally, vitals, certificateEndsMs: certificateEnd },
        ...{ node: node.figures, connected: node.connected, hellos: node.hellos },
        cache: software.images.cache.status,
        faults: () => condition?.latest().faults.length ?? first.faults.length,
      });
  const tell = (found: Survey): void => {
    const { conformance, capabilities } = identityBy(found);
    node.tell(
      create(pb.ConditionReportSchema, {
        conformance,
        faults: [...found.faults],
        ...(capabilities === undefined ? null : { capabilities }),
      }),
    );
  };
  condition = watchCondition({
    first,
    expected,
    units: options.hardware.gpuCount ?? 0,
    survey: (known) => surveyNode(options.hardware, sources, known),
    look: (last, known) => lookForFaults(sources, last, known),
    remember: (known) => rememberExpected(dataDir, bootId, known),
    tell,
    fingerprintEveryMs: options.discovery.fingerprintEveryMs,
    lookEveryMs: options.discovery.lookEveryMs,
    now: Date.now,
    after: systemAfter,
    log,
  });
  const renewing =
    found === null || found.files === null
      ? null
      : keepRenewed({
          nodeId: options.nodeId,
          identity: found.files,
          ask: (shown, asked) => askServers(dial.servers, shown, asked),
          log,
          now: Date.now,
          after: systemAfter,
          random: Math.random,
        });
  return {
    connected: () => Number(node.connected()),
    live: () => node.live(),
    async close() {
      metrics?.close();
      renewing?.close();
      await condition?.close();
      clearings.close();
      if (options.killWorkloadsOnExit) await node.stopAll("the agent stops", EXIT_GRACE_MS, EXIT_DEADLINE_MS);
      await node.close();
      await software.prologue.gpus?.close();
      peers?.close();
      beats.close();
      dial.close();
      identitySource?.close();
      await unlockState();
      await unlock();
    },
  };
}

/** From the servers, where there is a token to show and an authority to believe. */
async function firstFor(
  { nodeId, servers, token, identity: { authority } }: AgentOptions,
  dataDir: string,
  log: Logger,
): Promise<IdentityFiles | null> {
  if (token === undefined || authority === null) return null;
  const question = { servers: servers.map(parseServer), token, authority };
  const ask = (asked: AskedCertificate) => askForFirst(question, asked);
  const files = await firstIdentity({ nodeId, dataDir, authority, ask, log, now: Date.now, after: systemAfter });
  return files === null ? null : { ...files, kept: keptIn(dataDir) };
}

const keepingIn = (identity: IdentityOptions, kept: string): IdentityOptions =>
  identity.files === null ? identity : { ...identity, files: { ...identity.files, kept } };

const insideOf = ({ hardware: { gpuCount, gpuTopology, memoryTopology }, gpus: { units } }: Survey): Inside => ({
  gpuCount,
  units,
  ...(gpuTopology === undefined ? null : { gpuTopology }),
  ...(memoryTopology === undefined ? null : { memoryTopology }),
});

/** Throws when the store cannot be used at all, so that nobody relies on it in vain. */
function shipperOf(
  { store: place, limits }: AgentOptions["logs"],
  of: { readonly node: string; readonly dataDir: string; readonly log: Logger },
): Shipper {
  if (place === null) return logRing({ ...of, limits, now: Date.now });
  const compress = findCompressor();
  if (typeof compress === "string") throw new Error(compress);
  const store = openLogStore(place, process.env);
  return logShipper({ ...of, store, compress, limits, now: Date.now });
}

/** What is bound to every address is reached by the node's name. */
function peerHost(listen: string): string {
  const host = listen.slice(0, listen.lastIndexOf(":"));
  return host === "0.0.0.0" || host === "[::]" ? hostname() : host;
}

/** Workloads that are to end with the agent get this long to end by themselves. */
const EXIT_GRACE_MS = 2_000;
const EXIT_DEADLINE_MS = 5_000;

async function startHollow(
  options: AgentOptions,
  hollow: NonNullable<AgentOptions["hollow"]>,
  { log, version }: AgentSurroundings,
): Promise<Agent> {
  const hardware = discoverHardware(options.hardware);
  const { servers, token } = options;
  const found = await findIdentity(options.identity, log, { token: token !== undefined });
  const how = credentialsOf(found?.source ?? null, options.secure, options.identity.authority);
  const dial = dialer({ servers, membersPerChannel: NODES_PER_CHANNEL, token, credentials: how });
  const beats = wheel(Math.random);
  log.info({ nodes: hollow.count, servers: options.servers }, "starting hollow nodes");
  const nodes = await startHollowNodes({
    ...hollow,
    identity: identity(options, hardware, {
      version,
      bootId: discoverBootId(),
      isolation: "process_group",
      hollow: true,
      runtimes: [],
      conformance: fingerprint(
        components(sysfs(), { ...hardware, gpus: NO_GPUS, nics: [], baseImage: options.discovery.baseImage }),
      ),
    }),
    dialer: dial,
    wheel: beats,
    random: Math.random,
    log,
  });
  const sum = (count: (node: Node) => number): number => nodes.reduce((total, node) => total + count(node), 0);
  const endCensus = keepCensus(nodes, log);
  return {
    connected: () => sum((node) => Number(node.connected())),
    live: () => sum((node) => node.live()),
    async close() {
      endCensus();
      await Promise.all(nodes.map((node) => node.close()));
      beats.close();
      dial.close();
    },
  };
}

function identity(
  options: AgentOptions,
  hardware: Hardware,
  facts: {
    version: string;
    bootId: string;
    isolation: string;
    hollow: boolean;
    runtimes: readonly string[];
    conformance: string;
    peerAddress?: string;
  },
) {
  return identityOf({
    nodeId: options.nodeId,
    group: options.group,
    homeVcluster: options.homeVcluster,
    hardware,
    ...facts,
  });
}

const BYTES_PER_GB = 1024 ** 3;

const vitals = (): { load1: number; memoryAvailableGb: number } => ({
  load1: loadavg()[0] ?? 0,
  memoryAvailableGb: hundredths(freemem() / BYTES_PER_GB),
});
