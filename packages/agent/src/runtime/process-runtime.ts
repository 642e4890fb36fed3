// Runs attempts as real processes of this machine: their folders, control groups and wrappers, and the watch over
// processes of an earlier agent. The lifecycle decides what an attempt does next; this file performs it.

import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { systemAfter } from "../base/after.ts";
import { makeOwnFolder, requireOwn } from "../files/own-tree.ts";
import { cpuMsOf } from "../host/cpu-time.ts";
import { groupUsageOf } from "../host/usage/group-usage.ts";
import { usageOf } from "../host/usage/usage.ts";
import { usageSince } from "../host/usage/usage-since.ts";
import { keepNetworks } from "../network/keep.ts";
import { dirOf, groupOf, placeOf, type RuntimeContext } from "./attempt/context.ts";
import { attemptContext, checkpointsOf, firstProcess, networksOf } from "./attempt/entering.ts";
import { reportExit } from "./attempt/exits.ts";
import { watchAdopted } from "./attempt/reattach.ts";
import { recoverAttempts, sweepAttempts } from "./attempt/recovering.ts";
import { RETENTION, type RetentionLimits, retention } from "./attempt/retention.ts";
import { startAttempt } from "./attempt/starting.ts";
import { warmPool } from "./attempt/warm.ts";
import { writeWrapper } from "./attempt/wrapper.ts";
import { readAttempt, readUsed, rewriteOrder, writeEnd, writeStop, writeUsed } from "./base/attempt-files.ts";
import { readLaunch } from "./base/launch-file.ts";
import type { Runtime, StateEntry } from "./base/runtime.ts";
import { terminate } from "./process/stop.ts";
import { readHoldings } from "./prologue/attempt-holdings.ts";
import { engineOf, runEpilogue } from "./prologue/epilogue.ts";
import { metricsFile } from "./prologue/folders.ts";

type Given = "nodeId" | "bootId" | "isolation" | "limits" | "prologue" | "log" | "listener" | "offered";

interface ProcessRuntimeOptions extends Pick<RuntimeContext, Given> {
  readonly dataDir: string;
  /** Default: RETENTION. */
  readonly retention?: RetentionLimits;
}

export async function processRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const context = await openContext(options);
  const { isolation, limits, prologue, log, bootId, processes, closing } = context;
  const members = (key: string): Promise<readonly number[]> => isolation.members(placeOf(context, key));
  const stopKeeping = keepNetworks({
    driver: prologue.network,
    places: () => networksOf(context),
    after: systemAfter,
    log,
  });
  return {
    isolation: isolation.kind,
    recover: () => recoverAttempts(context),
    sweep: (known) => sweepAttempts(context, known),
    adopt(key) {
      if (placeOf(context, key).leader !== null) context.watch.add(key, placeOf(context, key));
    },
    start: (key, received) => startAttempt(context, key, received),
    interrupt: (key) => context.preparing.get(key)?.abort(),
    async terminate(key) {
      const signalled = processes.get(key)?.signalled ?? new Set();
      for (const pid of await terminate(isolation, placeOf(context, key), signalled)) signalled.add(pid);
    },
    kill: (key) => isolation.kill(placeOf(context, key)),
    clear: (key) => clearAttempt(context, key),
    // Without the script, which may be running and is written by the start.
    rememberOrder: async (key, received) => {
      const isNew = rewriteOrder(dirOf(context, key), received, bootId);
      context.waiting.set(key, { received, isFirst: isNew || context.waiting.get(key)?.isFirst === true });
    },
    rememberStop: async (key, stop) => writeStop(dirOf(context, key), stop),
    rememberEnd: async (key, end) => writeEnd(dirOf(context, key), end),
    archive: (key) => archiveAttempt(context, key),
    async discard(key) {
      processes.delete(key);
      context.waiting.delete(key);
      await prologue.trash.take(context.attemptsDir, key, orderOf(context, key)?.user ?? key);
    },
    logFile: (key, stream) => logFile(context, key, stream),
    userOf: (key) => orderOf(context, key)?.user ?? "",
    firstProcess: (key) => firstProcess(context, key),
    environ: (key, pid) => prologue.files.environ(pid, key),
    attemptContext: (key) => attemptContext(context, key),
    members: async (key) => (processes.has(key) ? members(key) : []),
    cpuMs: async (key) => (processes.has(key) ? cpuMsOf(await members(key)) : null),
    usage: async (key) => (processes.has(key) ? usageOfAttempt(context, key, await members(key)) : null),
    rememberUsed: async (key, used) => writeUsed(dirOf(context, key), used),
    used: async (key) => readUsed(dirOf(context, key)) ?? readUsed(join(context.endedDir, key)),
    reported: (key) => readReported(context, key),
    checkpoints: (key) => checkpointsOf(context, key),
    describe: async (key) => describeAttempt(context, key),
    async close() {
      closing.abort();
      stopKeeping();
      context.watch.close();
      for (const folder of [prologue.scratch, prologue.trash]) folder.close();
      await context.warm.close();
      await isolation.close();
      await limits.close();
    },
  };
}

async function usageOfAttempt(context: RuntimeContext, key: string, members: readonly number[]) {
  const { isolation, limits, prologue, counted, processes } = context;
  const name = groupOf(context, key);
  const v2 = isolation.kind === "cgroup2" ? isolation.folderOf(name) : "";
  const all = await usageOf(members, {
    group: () => groupUsageOf({ v2, memory: limits.memoryGroup(name) }),
    io: (pids) => prologue.files.io(pids, key),
  });
  counted.set(name, all);
  return usageSince(processes.get(key)?.before ?? null, all);
}

async function openContext(options: ProcessRuntimeOptions): Promise<RuntimeContext> {
  const { dataDir, prologue, isolation, listener } = options;
  const attemptsDir = join(dataDir, "attempts");
  const endedDir = join(dataDir, "ended");
  await makeOwnFolder(attemptsDir, 0o711);
  await makeOwnFolder(endedDir, 0o700);
  await makeOwnFolder(prologue.scratch.root, 0o711);
  // Scratch folders are removed by root, which must not act in a folder where users can put other names.
  if (prologue.isRoot) await requireOwn(prologue.scratch.root, "--scratch-dir");
  await Promise.all([prologue.scratch.open(), prologue.trash.open()]);
  const context: RuntimeContext = {
    ...options,
    attemptsDir,
    endedDir,
    processes: new Map(),
    counted: new Map(),
    waiting: new Map(),
    preparing: new Map(),
    closing: new AbortController(),
    retention: retention({
      folder: endedDir,
      limits: options.retention ?? RETENTION,
      remove: (key) => prologue.files.clear(endedDir, key, readAttempt(join(endedDir, key)).order?.user),
      dropped: (key) => listener.dropped(key),
    }),
    watch: watchAdopted((key, exit) => void reportExit(context, key, exit)),
    warm: warmPool({
      wrapper: await writeWrapper(dataDir),
      prefix: `w${Date.now().toString(36)}-`,
      prepare: (group) => isolation.prepare({ key: group, dir: "", leader: null }),
      async remove(group) {
        context.counted.delete(group);
        await isolation.remove({ key: group, dir: "", leader: null });
      },
    }),
  };
  return context;
}

async function clearAttempt(context: RuntimeContext, key: string): Promise<void> {
  const { prologue, isolation, limits, closing, log } = context;
  const dir = dirOf(context, key);
  const group = groupOf(context, key);
  if (!keepWrapper(context, key)) {
    await engineOf(prologue, dir).stop(placeOf(context, key), {
      ...{ isolation, files: prologue.files },
      ...{ signal: closing.signal, log },
    });
    if (closing.signal.aborted) return;
    context.counted.delete(group);
    await limits.remove(group);
  }
  await runEpilogue(prologue, { key, group, dir }, log);
}

/** Returns whether its wrapper serves the next attempt: then nothing of this one is left in their control group. */
function keepWrapper(context: RuntimeContext, key: string): boolean {
  const { processes, prologue, isolation, limits, warm, closing } = context;
  const known = processes.get(key);
  if (known === undefined) return false;
  const { group } = known;
  const isPlain = engineOf(prologue, dirOf(context, key)) === prologue.engines.process;
  const isClean = isPlain && limits.isClean(group) && isolation.isClean(placeOf(context, key));
  if (!isClean || closing.signal.aborted || !warm.keep(group)) {
    warm.retire(group);
    return false;
  }
  processes.set(key, { ...known, leader: null, group: key });
  return true;
}

async function archiveAttempt(context: RuntimeContext, key: string): Promise<void> {
  context.processes.delete(key);
  context.waiting.delete(key);
  const dir = dirOf(context, key);
  try {
    renameSync(dir, join(context.endedDir, key));
  } catch {
    // Archived before: the archived folder has the logs, the newer one has none.
    await context.prologue.trash.take(context.attemptsDir, key, orderOf(context, key)?.user ?? key);
  }
  context.retention.added(key);
}

/** The file is in a folder of the user's, who may have mounted anything on it. */
async function readReported(context: RuntimeContext, key: string): Promise<string> {
  const { files, scratch } = context.prologue;
  const launched = readLaunch(dirOf(context, key));
  if (launched === null) return "";
  const file = metricsFile(scratch.pathOf(key));
  return files.head(file, launched.owner, MAX_REPORTED_BYTES).then(String, () => "");
}

const MAX_REPORTED_BYTES = 16_384;

const orderOf = (context: RuntimeContext, key: string): pb.RunOrder | null =>
  readAttempt(dirOf(context, key)).order ?? readAttempt(join(context.endedDir, key)).order;

/** Asked for each short attempt: a thread would cost more than the look. */
async function logFile(context: RuntimeContext, key: string, stream: "stdout" | "stderr"): Promise<string | null> {
  const dir = [dirOf(context, key), join(context.endedDir, key)].find((folder) => existsSync(folder));
  return dir === undefined ? null : join(dir, stream);
}

function describeAttempt(context: RuntimeContext, key: string): StateEntry | null {
  const dir = dirOf(context, key);
  const known = context.processes.get(key);
  if (known === undefined || !existsSync(dir)) return null;
  const { images, container } = readHoldings(dir);
  const runtime = container !== null ? "container" : images.length > 0 ? "uenv" : "process";
  const cgroup = context.isolation.folderOf(known.group);
  const { leader: pid, uid, group: wrapper } = known;
  return { attempt: key, pid, uid, wrapper, cgroup, dir, runtime, mounts: images, container };
}
