// Runs attempts as real processes of this machine: puts together the folder, the control group,
// the wrapper, and the watch over processes of an earlier life. It keeps no opinion on what an
// attempt should do next; the lifecycle decides, and this carries out.

import { createHash } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { access, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemAfter } from "../../after.ts";
import { checkpointTarget } from "../../checkpoint/target.ts";
import type { Exit, Order } from "../../lifecycle/attempt.ts";
import type { Facts } from "../../lifecycle/recover.ts";
import type { NetworkPlace } from "../../network/driver.ts";
import { keepNetworks } from "../../network/keep.ts";
import { checkpointPlace } from "../../prologue/checkpoint-place.ts";
import { containerKills, runEpilogue, sweepLeftovers } from "../../prologue/epilogue.ts";
import { metricsFile } from "../../prologue/folders.ts";
import { denyLate, hasBegun, isUsersOwn, readHeld, readRoom } from "../../prologue/held.ts";
import type { Prepared, PrologueParts } from "../../prologue/parts.ts";
import { runPrologue } from "../../prologue/prologue.ts";
import { PrologueError } from "../../prologue/prologue-error.ts";
import { hostFile } from "../../tasks/offered.ts";
import { cpuMsOf } from "../../telemetry/cpu-time.ts";
import { usageOf } from "../../telemetry/usage.ts";
import type { FirstProcess } from "../first-process.ts";
import type { AttemptPlace, Isolation } from "../isolation/isolation.ts";
import type { LimitGroups } from "../isolation/limit-groups.ts";
import type { Runtime, RuntimeListener, StartResult } from "../runtime.ts";
import { environment, HOST_FILE, type Surroundings } from "./environment.ts";
import {
  readAttempt,
  readCopiers,
  readGroup,
  readInitPid,
  readPid,
  rewriteOrder,
  writeEnd,
  writeOrder,
  writeStop,
} from "./files.ts";
import { readLaunch } from "./launch-file.ts";
import { childOf, findWrapper, isWrapper, watchAdopted } from "./reattach.ts";
import { RETENTION, type RetentionLimits, retention } from "./retention.ts";
import { childEnd, prepareLaunch } from "./start.ts";
import { clear, terminate } from "./stop.ts";
import { type Warm, warmPool } from "./warm.ts";
import { wrapperScript } from "./wrapper.ts";

export interface ProcessRuntimeOptions {
  readonly nodeId: string;
  readonly bootId: string;
  readonly dataDir: string;
  readonly isolation: Isolation;
  readonly limits: LimitGroups;
  readonly prologue: PrologueParts;
  readonly log: Logger;
  readonly listener: RuntimeListener;
  readonly retention?: RetentionLimits;
  /** Variables that every job finds unless it sets them itself. */
  readonly offered?: () => Readonly<Record<string, string>>;
}

type NotLaunched = Extract<StartResult, { readonly kind: "not_launched" }>;

interface Process {
  leader: number | null;
  /** Its control group: that of the process it was given, or of its own name in older agents. */
  readonly group: string;
  readonly signalled: Set<number>;
}

export async function processRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  const { isolation, limits, prologue, listener, log, nodeId, bootId } = options;
  const attemptsDir = join(options.dataDir, "attempts");
  const endedDir = join(options.dataDir, "ended");
  await mkdir(attemptsDir, { recursive: true, mode: 0o711 });
  await mkdir(endedDir, { recursive: true, mode: 0o700 });
  await mkdir(prologue.scratch.root, { recursive: true, mode: 0o711 });
  const wrapper = await writeWrapper(options.dataDir);
  const processes = new Map<string, Process>();
  const closing = new AbortController();
  /** Attempts that the node is being made ready for. */
  const preparing = new Map<string, AbortController>();
  const kept = retention(endedDir, options.retention ?? RETENTION, (key) => listener.dropped(key));
  const watch = watchAdopted((key, exit) => void tellExit(key, exit));
  const warm = warmPool({
    wrapper,
    prefix: `w${Date.now().toString(36)}-`,
    prepare: (group) => isolation.prepare({ key: group, dir: "", leader: null }),
    remove: async (group) => void (await isolation.remove({ key: group, dir: "", leader: null })),
  });

  const surroundingsOf = (attemptDir: string): Surroundings => ({
    nodeId,
    attemptDir,
    base: process.env,
    offered: options.offered?.() ?? {},
  });
  const dirOf = (key: string): string => join(attemptsDir, key);
  const groupOf = (key: string): string => processes.get(key)?.group ?? key;
  const placeOf = (key: string): AttemptPlace => ({
    key: groupOf(key),
    dir: dirOf(key),
    leader: processes.get(key)?.leader ?? null,
  });

  async function factsOf(key: string): Promise<Facts> {
    const dir = dirOf(key);
    const claimed = readPid(dir);
    const group = readGroup(dir) ?? readLaunch(dir)?.wrapper ?? key;
    const leader = claimed === 0 ? await findWrapper(group) : claimed;
    const alive = leader !== null && (await isWrapper(group, leader));
    // After the look at the process, so that an exit written in between is seen.
    const files = readAttempt(dir);
    const rebooted = files.order !== null && files.bootId !== bootId;
    // The number of a wrapper that is gone may be another's by now: its session is not ours to end.
    const own = alive && !rebooted ? leader : null;
    processes.set(key, { leader: own, group, signalled: new Set() });
    const exit = files.exit === null ? null : await withMemory(key, files.exit);
    prologue.images.cache.pin(key, (await readHeld(dir)).images);
    const room = await readRoom(dir);
    if (room !== null) prologue.shares.keep(key, room);
    return { ...files, exit, claimed: claimed !== null, alive, rebooted };
  }

  /** Asked before its groups go: only they know whether the kernel killed it for want of memory. */
  async function withMemory(key: string, exit: Exit): Promise<Exit> {
    if (exit.kind !== "code" && exit.kind !== "signal") return exit;
    if (exit.kind === "code" && exit.code === 0) return exit;
    const kills = (await limits.oomKills(groupOf(key))) || containerKills(prologue, groupOf(key));
    if (kills === 0) return exit;
    return { ...exit, oom: `out of memory: the kernel ended ${kills} of its processes` };
  }

  async function tellExit(key: string, exit: Exit): Promise<void> {
    listener.exited(key, await withMemory(key, exit), Date.now());
  }

  /** Files to join by, beyond that of its group. */
  function limitFiles(key: string, order: Order): Promise<readonly string[]> {
    return limits.prepare(groupOf(key), order.share ?? null).catch((error: Error) => {
      // A share that cannot be kept must not be exceeded; without one only the count of kills is lost.
      if (order.share !== undefined) throw error;
      return [];
    });
  }

  async function joinFiles(key: string, order: Order): Promise<string> {
    const files = [await isolation.prepare(placeOf(key)), ...(await limitFiles(key, order))];
    const dir = dirOf(key);
    if (readInitPid(dir) !== null) await denyLate(prologue, { group: groupOf(key), dir, order });
    return files.filter((file) => file !== "").join("\n");
  }

  /** How the attempt is to be started, or why it cannot be. */
  async function makeReady(key: string, order: Order): Promise<Prepared | NotLaunched> {
    const dir = dirOf(key);
    const abort = new AbortController();
    preparing.set(key, abort);
    const signal = AbortSignal.any([abort.signal, closing.signal]);
    try {
      const base = environment(order, surroundingsOf(dir));
      return await runPrologue(prologue, { key, group: groupOf(key), dir, order, environment: base }, signal);
    } catch (error) {
      const { message } = error as Error;
      if (signal.aborted) return { kind: "not_launched", message: "it was stopped before it began" };
      return { kind: "not_launched", message, ...(error instanceof PrologueError ? { stage: error.stage } : null) };
    } finally {
      preparing.delete(key);
    }
  }

  function onChildEnd(key: string, pid: number, status: number | null): void {
    if (closing.signal.aborted) return;
    // The shell that waited for it is gone, not the wrapper itself.
    if (status === null) {
      watch.add(key, placeOf(key));
      return;
    }
    const end = childEnd(dirOf(key), { pid, status });
    if (end.kind === "exited") void tellExit(key, end.exit);
    else void followOther(key, end.pid);
  }

  async function followOther(key: string, pid: number): Promise<void> {
    const owner = pid === 0 ? null : pid;
    if (owner === null) {
      // Claimed without a number and by nobody alive: the disk took the name of the file, no more.
      const message = "its wrapper could not write to the attempt's folder";
      return listener.exited(key, { kind: "not_launched", message }, Date.now());
    }
    log.warn({ attempt: key, pid: owner }, "another wrapper has this attempt already; watching that one");
    await isolation.remove(placeOf(key));
    processes.set(key, { leader: owner, group: readGroup(dirOf(key)) ?? key, signalled: new Set() });
    watch.add(key, placeOf(key));
  }

  /** Whoever waited is told to become the attempt, or to go. */
  async function startIn(found: Warm, key: string, order: Order): Promise<StartResult> {
    const dir = dirOf(key);
    processes.set(key, { leader: found.pid, group: found.group, signalled: new Set() });
    try {
      const limited = await limitFiles(key, order);
      const ready = await makeReady(key, order);
      if ("kind" in ready) {
        found.dismiss();
        return ready;
      }
      const joinBy = limited.join("\n");
      const problem = prepareLaunch({ dir, wrapper: found.group, joinBy, order, umask: prologue.umask, ...ready });
      if (problem !== null) {
        found.dismiss();
        return { kind: "not_launched", message: problem };
      }
    } catch (error) {
      found.dismiss();
      throw error;
    }
    found.become(dir, (status) => onChildEnd(key, found.pid, status));
    return { kind: "started", atMs: Date.now() };
  }

  async function firstProcess(key: string): Promise<FirstProcess | null> {
    const leader = processes.get(key)?.leader ?? null;
    const launched = readLaunch(dirOf(key));
    if (leader === null || launched === null) return null;
    const init = readInitPid(dirOf(key));
    const { order } = readAttempt(dirOf(key));
    // Until its container is there, all there is of it is the engine, on the node itself.
    if (init === null && order?.software?.image) return null;
    // A user is not to enter what is still root's: the wrapper is, and its child for a moment. Nor is the wrapper in the domain
    // of the job.
    const plain = launched.uid === null && order?.network === undefined;
    const pid = init ?? (plain ? leader : childOf(leader, readCopiers(dirOf(key))));
    if (pid === null || !(await isUsersOwn(launched.uid, pid))) return null;
    if (order?.software?.image && !(await hasBegun(pid))) return null;
    const variables = init === null ? launched.variables : null;
    return {
      pid,
      variables,
      filters: join(dirOf(key), "filters"),
      joinBy: order === null ? await isolation.prepare(placeOf(key)) : await joinFiles(key, order),
    };
  }

  /** Of what has begun: until then its prologue opens them. */
  const networks = (): readonly NetworkPlace[] =>
    [...processes.keys()].flatMap((key) => {
      const { network, nodes = [] } = readAttempt(dirOf(key)).order ?? {};
      return network === undefined || placeOf(key).leader === null || readLaunch(dirOf(key)) === null
        ? []
        : [{ key, network, nodes }];
    });
  const stopKeeping = keepNetworks({ driver: prologue.network, places: networks, after: systemAfter, log });

  return {
    isolation: isolation.kind,

    async recover() {
      await kept.load();
      const keys = await readdir(attemptsDir);
      return new Map(await Promise.all(keys.map(async (key) => [key, await factsOf(key)] as const)));
    },

    async sweep(known) {
      const groups = new Set([...known].map(groupOf));
      for (const key of await isolation.groups()) {
        if (groups.has(key) || warm.has(key)) continue;
        log.warn({ group: key }, "removing the control group of an attempt nobody knows");
        await clear(isolation, { key, dir: dirOf(key), leader: null }, { signal: closing.signal, log });
      }
      for (const key of await limits.keys()) if (!groups.has(key) && !warm.has(key)) await limits.remove(key);
      await sweepLeftovers(prologue, known, log);
    },

    interrupt: (key) => preparing.get(key)?.abort(),

    adopt(key) {
      if (placeOf(key).leader !== null) watch.add(key, placeOf(key));
    },

    async start(key, order): Promise<StartResult> {
      // Acknowledged in an earlier life of this agent: it must not run a second time.
      if (kept.has(key)) return { kind: "not_launched", message: "this attempt has ended on this node before" };
      writeOrder(dirOf(key), order, bootId);
      writeFileSync(join(dirOf(key), HOST_FILE), hostFile(order.nodes, order.tasksPerNode));
      return startIn(await warm.take(), key, order);
    },

    async terminate(key) {
      const signalled = processes.get(key)?.signalled ?? new Set();
      for (const pid of await terminate(isolation, placeOf(key), signalled)) signalled.add(pid);
    },

    kill: (key) => isolation.kill(placeOf(key)),

    async clear(key) {
      await clear(isolation, placeOf(key), { signal: closing.signal, log });
      if (closing.signal.aborted) return;
      await limits.remove(groupOf(key));
      await runEpilogue(prologue, { key, group: groupOf(key), dir: dirOf(key) }, log);
    },

    // Without the script: that may be running, and is written by the start.
    rememberOrder: async (key, order) => rewriteOrder(dirOf(key), order, bootId),
    rememberStop: async (key, stop) => writeStop(dirOf(key), stop),
    rememberEnd: async (key, end) => writeEnd(dirOf(key), end),

    async archive(key) {
      processes.delete(key);
      try {
        renameSync(dirOf(key), join(endedDir, key));
      } catch {
        // Archived before: what is kept of it has the logs, the newer folder has none.
        await rm(dirOf(key), { recursive: true, force: true });
      }
      kept.added(key);
    },

    async discard(key) {
      processes.delete(key);
      await rm(dirOf(key), { recursive: true, force: true });
    },

    async logFile(key, stream) {
      for (const dir of [dirOf(key), join(endedDir, key)]) {
        if (await exists(dir)) return join(dir, stream);
      }
      return null;
    },

    firstProcess,

    async room(key) {
      const dir = dirOf(key);
      const { order } = readAttempt(dir);
      if (order === null) return null;
      return { dir, order, joinBy: await joinFiles(key, order) };
    },

    members: async (key) => (processes.has(key) ? isolation.members(placeOf(key)) : []),
    cpuMs: async (key) => (processes.has(key) ? cpuMsOf(await isolation.members(placeOf(key))) : null),
    usage: async (key) => (processes.has(key) ? usageOf(await isolation.members(placeOf(key))) : null),
    metricsFile: (key) => metricsFile(prologue.scratch.pathOf(key)),

    async checkpoints(key) {
      const dir = dirOf(key);
      const { order } = readAttempt(dir);
      const place = order === null ? null : checkpointPlace(prologue, dir, order);
      if (place === null) return null;
      const members = async () => {
        const all = await isolation.members(placeOf(key));
        return all.filter((pid) => pid !== processes.get(key)?.leader);
      };
      const first = async () => (await firstProcess(key))?.pid ?? null;
      return checkpointTarget({ ...place, members, first, now: Date.now });
    },

    async describe(key) {
      const dir = dirOf(key);
      const known = processes.get(key);
      if (known === undefined || !existsSync(dir)) return null;
      const { images, container } = await readHeld(dir);
      const runtime = container !== null ? "container" : images.length > 0 ? "uenv" : "process";
      const cgroup = isolation.folderOf(known.group);
      return { attempt: key, pid: known.leader, wrapper: known.group, cgroup, dir, runtime, mounts: images, container };
    },

    async close() {
      closing.abort();
      stopKeeping();
      watch.close();
      await warm.close();
      await isolation.close();
      await limits.close();
    },
  };
}

/** Named after its content: a newer agent never changes the script that an older wrapper reads. */
async function writeWrapper(dataDir: string): Promise<string> {
  const digest = createHash("sha256").update(wrapperScript).digest("hex").slice(0, 8);
  const path = join(dataDir, `run-attempt-${digest}.sh`);
  if (await exists(path)) return path;
  await writeFile(`${path}.${process.pid}`, wrapperScript);
  await rename(`${path}.${process.pid}`, path);
  return path;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
