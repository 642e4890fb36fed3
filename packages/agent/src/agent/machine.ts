// The machine as an agent finds it at start: data folder and locks, hardware, isolation, software for attempts, and the
// state that an earlier agent left.

import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import type { Condition } from "../condition/condition.ts";
import { recallExpected } from "../condition/expected.ts";
import { sysfs } from "../discovery/base/sysfs.ts";
import type { ExpectedHardware } from "../discovery/faults.ts";
import { discoverBootId } from "../discovery/hardware.ts";
import { type Sources, type Survey, surveyNode } from "../discovery/survey.ts";
import { lockDataDir, lockStateFile } from "../files/lock.ts";
import { makeOwnFolder, setOwnMode } from "../files/own-tree.ts";
import { detectIsolation, detectLimits } from "../host/isolation/detect.ts";
import type { Isolation } from "../host/isolation/isolation.ts";
import type { LimitGroups } from "../host/isolation/limit-groups.ts";
import type { NodeInventory } from "../host/isolation/node-shares.ts";
import { processLimit } from "../host/isolation/process-limit.ts";
import type { AgentOptions } from "../options/options.ts";
import { openStateFile, type StateFile } from "../state/state-file.ts";
import { type Facilities, findFacilities } from "../tasks/facilities.ts";
import { type NodeSoftware, openFiles, openSoftware } from "./software.ts";

/** Functions that close what was opened, in the order of opening; the agent calls them in reverse. */
export type AgentClosers = (() => unknown)[];

export interface AgentMachine {
  readonly dataDir: string;
  readonly bootId: string;
  readonly sources: Sources;
  readonly expected: ExpectedHardware;
  /** The survey at start. */
  readonly first: Survey;
  readonly isolation: Isolation;
  readonly limits: LimitGroups;
  readonly software: NodeSoftware;
  readonly stateFile: StateFile;
  readonly facilities: Facilities;
  /** The latest survey: the first one until the condition is watched. */
  latest(): Survey;
  watch(condition: Condition): void;
}

export async function openMachine(
  options: AgentOptions,
  { log, isolation: kind }: { readonly log: Logger; readonly isolation?: Isolation["kind"] },
  closing: AgentClosers,
): Promise<AgentMachine> {
  const { nodeId } = options;
  await makeOwnFolder(options.dataDir, 0o711);
  const dataDir = await realpath(options.dataDir);
  // Users of jobs pass through it to their own files; they cannot list it.
  await setOwnMode(dataDir, 0o711).catch(() => undefined);
  closing.push(lockDataDir(dataDir));
  const statePath = options.stateFile === "" ? join(dataDir, "agent-state.json") : resolve(options.stateFile);
  closing.push(lockStateFile(statePath));
  const bootId = discoverBootId();
  const scratch = options.software.scratchDir || join(dataDir, "scratch");
  const sources: Sources = { ...options.discovery, scratch, fs: sysfs() };
  const expected = recallExpected(dataDir, bootId);
  const first = await surveyNode(options.hardware, sources, expected);
  for (const warning of first.warnings) log.warn({ warning }, "GPU discovery failed");
  let condition: Condition | null = null;
  const latest = (): Survey => condition?.latest() ?? first;
  const files = await openFiles(options.software);
  const isolation = detectIsolation({ nodeId, dataDir }, files, kind);
  const limits = await detectLimits({ nodeId, dataDir }, isolation, {
    devices: first.hardware.gpuCount > 0,
    maxPids: processLimit(options.maxPids, first.hardware.cpuCores),
  });
  const software = await openSoftware(
    { ...options.software, unifiedMemory: options.software.unifiedMemory || first.unified },
    { nodeId, dataDir, bootId, limits, files, ca: authorityOf(options), inside: () => inventoryOf(latest()), log },
  );
  const stateFile = openStateFile({
    path: statePath,
    of: { node: nodeId, boot_id: bootId, data_dir: dataDir, isolation: isolation.kind },
    log,
  });
  const facilities = await findFacilities(dataDir);
  return {
    dataDir,
    bootId,
    sources,
    expected,
    first,
    isolation,
    limits,
    software,
    stateFile,
    facilities,
    latest,
    watch: (watched) => {
      condition = watched;
    },
  };
}

/** The file by which jobs check the API. */
export const authorityOf = ({ identity }: Pick<AgentOptions, "identity">): string | undefined =>
  identity.files?.ca ?? identity.authority ?? undefined;

const inventoryOf = ({ hardware, gpus: { units } }: Survey): NodeInventory => {
  const { gpuCount, gpuTopology, memoryTopology } = hardware;
  return {
    gpuCount,
    units,
    ...(gpuTopology === undefined ? null : { gpuTopology }),
    ...(memoryTopology === undefined ? null : { memoryTopology }),
  };
};
