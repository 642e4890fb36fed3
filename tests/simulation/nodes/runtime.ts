// The runtime of a simulated node: the steps of the real one on the simulated machine, with time between them, so that
// a crash can fall between any two.

import type {
  CheckpointTarget,
  Exit,
  NodeCheckpointResult,
  ReceivedOrder,
  RecoveredFacts,
  Runtime,
  RuntimeListener,
  StartResult,
} from "@lattice/agent";
import type { OneClusterCheck } from "../checks/one-cluster.ts";
import type { Host } from "../world/host.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import { type Folder, type Machine, NOT_CLAIMED, type WrapperEnd } from "./machine.ts";
import { programOf } from "./program.ts";
import { saveWork } from "./saved-work.ts";

/** Interval at which the end of an adopted process is checked. */
const LOOK_EVERY_MS = 250;
const SIGKILL = 9;
/** Number of archived attempts that are kept. */
const MAX_ENDED = 2_000;

interface RuntimeParts {
  readonly world: World;
  readonly machine: Machine;
  readonly host: Host;
  readonly random: Random;
  readonly listener: RuntimeListener;
  readonly oneCluster: Pick<OneClusterCheck, "onStart" | "onStop" | "onArchive">;
}

export function machineRuntime({ world, machine, host, random, listener, oneCluster }: RuntimeParts): Runtime {
  /** A disk takes time, and refuses writes when it is full. */
  const disk = async (): Promise<void> => {
    await host.wait(random.between(0, 4));
  };
  const write = async (): Promise<void> => {
    await disk();
    if (machine.full) throw new Error("ENOSPC: no space left on device");
    const { tear } = machine;
    if (tear === null) return;
    machine.tear = null;
    tear();
    await disk();
  };

  function folderOf(key: string): Folder {
    const known = machine.attempts.get(key);
    if (known !== undefined) return known;
    const made: Folder = {
      order: null,
      arrivedAtMs: 0,
      bootId: "",
      pid: null,
      claimedAtMs: 0,
      exit: null,
      exitedAtMs: 0,
      stop: null,
      end: null,
      doneMs: () => 0,
    };
    machine.attempts.set(key, made);
    return made;
  }

  function put(key: string, received: ReceivedOrder): void {
    Object.assign(folderOf(key), { ...received, bootId: machine.bootId() });
  }

  function watch(key: string, pid: number): void {
    if (machine.wrapperAlive(pid)) {
      host.after(LOOK_EVERY_MS, () => watch(key, pid));
      return;
    }
    const exit = machine.attempts.get(key)?.exit ?? null;
    const unseen = { kind: "unseen", message: "its process vanished without leaving an exit status" } as const;
    listener.exited(key, exit ?? unseen, machine.clock());
  }

  function childEnded(key: string, pid: number, end: WrapperEnd): void {
    const owner = machine.attempts.get(key)?.pid ?? null;
    const another = end.kind === "code" && end.code === NOT_CLAIMED && owner !== null && owner !== pid;
    if (another) watch(key, owner);
    else listener.exited(key, exitOf(key, owner, end), machine.clock());
  }

  function exitOf(key: string, owner: number | null, end: WrapperEnd): Exit {
    const exit = machine.attempts.get(key)?.exit ?? null;
    if (exit !== null) return exit;
    if (end.kind === "killed") return { kind: "signal", number: SIGKILL };
    if (owner === null) return { kind: "not_launched", message: "cannot write to the attempt's folder" };
    return { kind: "code", code: end.code, recorded: false };
  }

  return {
    isolation: "process_group",
    async recover() {
      await disk();
      return new Map([...machine.attempts].map(([key, folder]) => [key, factsOf(machine, folder)]));
    },
    sweep: disk,
    adopt(key) {
      const pid = machine.attempts.get(key)?.pid ?? null;
      if (pid !== null) watch(key, pid);
    },
    async start(key, received): Promise<StartResult> {
      const { order } = received;
      oneCluster.onStart(machine.name, key);
      if (machine.ended.has(key))
        return { kind: "not_launched", message: "this attempt has ended on this node before" };
      if (random.chance(programOf(order.entrypoint).unready ?? 0)) {
        await disk();
        return { kind: "not_launched", message: "there is no such image", stage: "image" };
      }
      // Torn if the agent dies during the write.
      if (!machine.full && !machine.attempts.has(key)) folderOf(key);
      await write();
      put(key, received);
      await disk();
      const pid = machine.spawn(key, order, (end) => host.after(random.between(0, 5), () => childEnded(key, pid, end)));
      return { kind: "started", atMs: machine.clock() };
    },
    interrupt: () => undefined,
    async terminate(key) {
      await disk();
      machine.terminate(key);
    },
    async kill(key) {
      await disk();
      machine.kill(key);
    },
    async clear(key) {
      for (;;) {
        await disk();
        if (!machine.hasWrapper(key)) return;
        machine.kill(key);
      }
    },
    async rememberOrder(key, received) {
      if (!machine.full) folderOf(key);
      await write();
      put(key, received);
    },
    async rememberStop(key, stop) {
      oneCluster.onStop(machine.name, key, stop);
      await write();
      folderOf(key).stop = stop;
    },
    async rememberEnd(key, end) {
      await write();
      folderOf(key).end = end;
    },
    async archive(key) {
      oneCluster.onArchive(machine.name, key);
      await disk();
      machine.attempts.delete(key);
      machine.ended.add(key);
      const [oldest] = machine.ended;
      if (machine.ended.size <= MAX_ENDED || oldest === undefined) return;
      machine.ended.delete(oldest);
      listener.dropped(oldest);
    },
    async discard(key) {
      await disk();
      machine.attempts.delete(key);
    },
    async checkpoints(key) {
      const folder = machine.attempts.get(key);
      return folder?.order?.checkpoint === undefined ? null : simulatedTarget({ world, folder, host, random });
    },
    logFile: async () => null,
    firstProcess: async () => null,
    close: async () => undefined,
  };
}

/** The content of an attempt's folder, whichever agent reads it. */
const saved = new WeakMap<Folder, NodeCheckpointResult>();

interface SavingProgram {
  readonly world: World;
  readonly folder: Folder;
  readonly host: Host;
  readonly random: Random;
}

/** Usually a program that finishes after a while; sometimes one that fails or never answers. */
function simulatedTarget({ world, folder, host, random }: SavingProgram): CheckpointTarget {
  return {
    async ask(_wanted, heard) {
      const silent = random.chance(0.05);
      const fails = random.chance(0.1);
      const cancel = silent
        ? () => undefined
        : host.after(random.between(5, 3_000), () =>
            heard(fails ? { kind: "failed", message: "no space" } : { kind: "done", bytes: 1_000_000 }),
          );
      return { look: async () => undefined, close: cancel };
    },
    word: async () => saved.get(folder) ?? null,
    async keep(result) {
      saved.set(folder, result);
      if (result.ok) saveWork(world, folder.order?.allocationId ?? "", result.number, folder.doneMs());
    },
  };
}

function factsOf(machine: Machine, folder: Folder): RecoveredFacts {
  const { order, pid, bootId, claimedAtMs, exit, exitedAtMs, stop, end } = folder;
  const rebooted = order !== null && bootId !== machine.bootId();
  const alive = pid !== null && machine.wrapperAlive(pid);
  return {
    order,
    arrivedAtMs: folder.arrivedAtMs,
    claimed: pid !== null,
    claimedAtMs,
    alive,
    exit,
    exitedAtMs,
    stop,
    end,
    rebooted,
  };
}
