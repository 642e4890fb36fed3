// How memory is spread over the domains of a node: numactl's words for what was asked. A node with one
// domain, or one whose CPUs and GPUs share their memory, has nothing to choose, so nothing is done there. A part of a node
// has the domains of that part alone, and memory behind an expander only whoever asked for it.

import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { numbersOf } from "../discovery/sysfs.ts";
import { PrologueError } from "../prologue/prologue-error.ts";

export const NUMACTL = "/usr/bin/numactl";

export interface NumaDomain {
  readonly numa: number;
  /** None: an expander's memory, or a device's. */
  readonly cpus: readonly number[];
}

export interface MemoryPlace {
  /** Those that have memory, which this agent may use. */
  readonly domains: readonly NumaDomain[];
  readonly unified: boolean;
  readonly numactl: boolean;
}

export interface MemoryRoom {
  /** Null: any. */
  readonly cpus: readonly number[] | null;
  /** Numbers of domains; null: any. */
  readonly memory: readonly number[] | null;
  /** Memory behind expanders counts. */
  readonly cxl: boolean;
}

export function discoverMemoryPlace(unified: boolean): MemoryPlace {
  return { domains: domains(), unified, numactl: isExecutable(NUMACTL) };
}

/** Empty: nothing to be done. */
export function memoryPolicyWords(policy: string, place: MemoryPlace, room: MemoryRoom): readonly string[] {
  if (policy === "" || place.unified) return [];
  const { cpus, memory } = room;
  const reach = place.domains.filter(({ numa }) => memory === null || memory.includes(numa));
  if (reach.length <= 1) return [];
  if (!place.numactl)
    throw new PrologueError("memory", `memory_policy ${policy} needs numactl, which is not installed`);
  const own = reach.filter((domain) => domain.cpus.length > 0 && near(domain, cpus));
  // Cores whose domains have no memory of their own, and nodes that say nothing of cores.
  const home = own.length > 0 ? own : reach;
  const far = room.cxl ? reach.filter((domain) => domain.cpus.length === 0 && !home.includes(domain)) : [];
  const list = [...home, ...far].map(({ numa }) => numa).join(",");
  switch (policy) {
    case "local":
      return [NUMACTL, "--localalloc", "--"];
    case "interleave":
      return [NUMACTL, `--interleave=${list}`, "--"];
    case "preferred":
      return [NUMACTL, `--preferred=${home[0]?.numa ?? 0}`, "--"];
    case "bind":
      return [NUMACTL, `--membind=${list}`, "--"];
    default:
      throw new PrologueError("memory", `memory_policy ${policy} is not known on this node`);
  }
}

const near = ({ cpus }: NumaDomain, wanted: readonly number[] | null): boolean =>
  wanted === null || cpus.some((cpu) => wanted.includes(cpu));

const NODES = "/sys/devices/system/node";

function domains(): NumaDomain[] {
  const allowed = /^Mems_allowed_list:\s*(\S+)/m.exec(textOf("/proc/self/status"))?.[1];
  const mine = allowed === undefined ? null : numbersOf(allowed);
  return names()
    .map((name) => Number(name.slice("node".length)))
    .sort((a, b) => a - b)
    .filter((numa) => (mine === null || mine.includes(numa)) && hasMemory(numa))
    .map((numa) => ({ numa, cpus: numbersOf(textOf(`${NODES}/node${numa}/cpulist`).trim()) }));
}

const hasMemory = (numa: number): boolean =>
  Number(/MemTotal:\s+(\d+) kB/.exec(textOf(`${NODES}/node${numa}/meminfo`))?.[1] ?? 0) > 0;

function names(): readonly string[] {
  try {
    return readdirSync(NODES).filter((name) => /^node\d+$/.test(name));
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
