// One node's machine: its disk, its processes and its clock. It outlives its agents; a reboot ends every process and
// keeps the disk. It knows what really ran, which agents only report: every start of a command calls `onStart`.

import type { End, Exit, Stop } from "@lattice/agent";
import type { pb } from "@lattice/wire";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import { type Program, programOf } from "./program.ts";
import { loadWork } from "./saved-work.ts";

/** The folder of one attempt. */
export interface Folder {
  /** `null` when the write was torn. */
  order: pb.RunOrder | null;
  arrivedAtMs: number;
  bootId: string;
  /** Number of the wrapper that claimed it. */
  pid: number | null;
  claimedAtMs: number;
  exit: Exit | null;
  exitedAtMs: number;
  stop: Stop | null;
  end: End | null;
  /** The work that its program has done, with that before the checkpoint from which it continues; 0 before its start. */
  doneMs: () => number;
}

export interface Process {
  readonly key: string;
  readonly pid: number;
  readonly order: pb.RunOrder;
  readonly startedAtMs: number;
}

/** How a wrapper ended. */
export type WrapperEnd = { readonly kind: "code"; readonly code: number } | { readonly kind: "killed" };

/** The wrapper found its attempt claimed, or no folder to claim it in. */
export const NOT_CLAIMED = 97;
const TERMINATED = 143;

interface Wrapper {
  readonly pid: number;
  readonly key: string;
  readonly ended: (end: WrapperEnd) => void;
  /** Set once it has claimed the attempt and runs the command. */
  process: Process | null;
  alive: boolean;
}

export interface Machine {
  readonly name: string;
  readonly attempts: Map<string, Folder>;
  readonly ended: Set<string>;
  bootId(): string;
  /** The machine's own clock, which may be wrong. */
  clock(): number;
  jump(byMs: number): void;
  /** Sum of the absolute values of all clock jumps. */
  jumped(): number;
  full: boolean;
  /** The fingerprint of its configuration. */
  conformance: string;
  /** The next write of a record is torn, and the agent dies. */
  tear: (() => void) | null;
  /** Starts a wrapper, which then runs on its own. */
  spawn(key: string, order: pb.RunOrder, ended: (end: WrapperEnd) => void): number;
  wrapperAlive(pid: number): boolean;
  terminate(key: string): void;
  kill(key: string): void;
  hasWrapper(key: string): boolean;
  live(): readonly Process[];
  /** Why the probe fails, or `null`. */
  probe(key: string): string | null;
  reboot(): void;
  /** Erases the disk. */
  wipe(): void;
}

export interface MachineParts {
  readonly world: World;
  readonly name: string;
  readonly random: Random;
  readonly epochMs: number;
  readonly onStart: (machine: Machine, process: Process) => void;
  readonly onEnd: (machine: Machine, process: Process) => void;
}

const NOTHING: readonly Process[] = [];

function running(wrappers: Iterable<Wrapper>): readonly Process[] {
  const processes: Process[] = [];
  for (const { process } of wrappers) if (process !== null) processes.push(process);
  return processes;
}

export function createMachine({ world, name, random, epochMs, onStart, onEnd }: MachineParts): Machine {
  const wrappers = new Map<number, Wrapper>();
  let boots = 1;
  let lastPid = 100;
  let skewMs = random.between(-2_000, 2_000);
  let jumped = 0;

  function claim(wrapper: Wrapper, order: pb.RunOrder): void {
    if (!wrapper.alive) return;
    const folder = machine.attempts.get(wrapper.key);
    if (folder === undefined || folder.pid !== null) {
      leave(wrapper, { kind: "code", code: NOT_CLAIMED });
      return;
    }
    folder.pid = wrapper.pid;
    folder.claimedAtMs = machine.clock();
    const program = programOf(order.entrypoint);
    if (folder.stop !== null) notLaunched(wrapper, "it was stopped before it began");
    else if (program.broken) notLaunched(wrapper, "cannot enter the working directory");
    else begin(wrapper, folder, order, program);
  }

  function notLaunched(wrapper: Wrapper, message: string): void {
    record(wrapper, { kind: "not_launched", message });
    leave(wrapper, { kind: "code", code: 1 });
  }

  function begin(wrapper: Wrapper, folder: Folder, order: pb.RunOrder, program: Program): void {
    wrapper.process = { key: wrapper.key, pid: wrapper.pid, order, startedAtMs: world.now() };
    onStart(machine, wrapper.process);
    const { allocationId, checkpoint } = order;
    const savedMs = checkpoint === undefined ? 0 : loadWork(world, allocationId, checkpoint.resumeFrom);
    const startedAtMs = world.now();
    folder.doneMs = () => savedMs + world.now() - startedAtMs;
    world.after(Math.max(0, program.runsMs - savedMs), () => finish(wrapper, program.exitCode));
  }

  function finish(wrapper: Wrapper, code: number): void {
    if (!wrapper.alive) return;
    record(wrapper, { kind: "code", code, recorded: true });
    leave(wrapper, { kind: "code", code });
  }

  function record(wrapper: Wrapper, exit: Exit): void {
    const folder = machine.attempts.get(wrapper.key);
    if (folder === undefined || machine.full) return;
    folder.exit = exit;
    folder.exitedAtMs = machine.clock();
  }

  function leave(wrapper: Wrapper, end: WrapperEnd): void {
    wrapper.alive = false;
    wrappers.delete(wrapper.pid);
    if (wrapper.process !== null) onEnd(machine, wrapper.process);
    wrapper.ended(end);
  }

  const of = (key: string): Wrapper[] => [...wrappers.values()].filter((wrapper) => wrapper.key === key);

  const machine: Machine = {
    name,
    attempts: new Map(),
    ended: new Set(),
    full: false,
    conformance: "c1",
    tear: null,
    bootId: () => `${name}-boot-${boots}`,
    clock: () => epochMs + world.now() + skewMs,
    jump(byMs) {
      skewMs += byMs;
      jumped += Math.abs(byMs);
    },
    jumped: () => jumped,
    spawn(key, order, ended) {
      lastPid += 1;
      const wrapper: Wrapper = { pid: lastPid, key, ended, process: null, alive: true };
      wrappers.set(wrapper.pid, wrapper);
      world.after(random.between(1, 30), () => claim(wrapper, order));
      return wrapper.pid;
    },
    wrapperAlive: (pid) => wrappers.has(pid),
    terminate(key) {
      for (const wrapper of of(key)) {
        const { process } = wrapper;
        if (process === null) continue;
        const { stopsMs } = programOf(process.order.entrypoint);
        if (stopsMs !== null) world.after(stopsMs, () => finish(wrapper, TERMINATED));
      }
    },
    kill(key) {
      for (const wrapper of of(key)) leave(wrapper, { kind: "killed" });
    },
    hasWrapper: (key) => of(key).length > 0,
    live: () => (wrappers.size === 0 ? NOTHING : running(wrappers.values())),
    probe(key) {
      const process = machine.live().find((one) => one.key === key);
      if (process === undefined) return "connection refused";
      const { sickMs = null } = programOf(process.order.entrypoint);
      return sickMs !== null && world.now() - process.startedAtMs > sickMs ? "no answer" : null;
    },
    reboot() {
      boots += 1;
      for (const wrapper of [...wrappers.values()]) {
        wrapper.alive = false;
        wrappers.delete(wrapper.pid);
        if (wrapper.process !== null) onEnd(machine, wrapper.process);
      }
    },
    wipe() {
      machine.attempts.clear();
      machine.ended.clear();
    },
  };
  return machine;
}
