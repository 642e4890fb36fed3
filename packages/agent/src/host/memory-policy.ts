// The numactl words for a requested memory policy. A node with one domain, or with memory shared by CPUs and GPUs, has
// nothing to choose. A share uses its own domains only, and expander memory only when requested.

import { readdirSync, readFileSync } from "node:fs";
import { isExecutable } from "../base/executable.ts";
import { PrologueError } from "../base/prologue-error.ts";
import { numbersOf } from "../discovery/base/sysfs.ts";

const NUMACTL = "/usr/bin/numactl";

interface NumaDomain {
  readonly numa: number;
  /** Empty for the memory of an expander or a device. */
  readonly cpus: readonly number[];
}

export interface MemoryPlace {
  /** Domains with memory that this agent may use. */
  readonly domains: readonly NumaDomain[];
  readonly unified: boolean;
  readonly numactl: boolean;
}

export interface MemoryRoom {
  /** `null` for any core. */
  readonly cpus: readonly number[] | null;
  /** Numbers of domains; `null` for any. */
  readonly memory: readonly number[] | null;
  /** Whether memory behind expanders counts. */
  readonly cxl: boolean;
}

export function discoverMemoryPlace(unified: boolean): MemoryPlace {
  return { domains: domains(), unified, numactl: isExecutable(NUMACTL) };
}

/** Returns no words when there is nothing to do. */
export function memoryPolicyWords(policy: string, place: MemoryPlace, room: MemoryRoom): readonly string[] {
  if (policy === "" || place.unified) return [];
  const { cpus, memory } = room;
  const reach = place.domains.filter(({ numa }) => memory === null || memory.includes(numa));
  if (reach.length <= 1) return [];
  if (!place.numactl)
    throw new PrologueError("memory", `memory_policy ${policy} needs numactl, which is not installed`);
  const own = reach.filter((domain) => domain.cpus.length > 0 && near(domain, cpus));
  // For cores whose domains have no memory, and nodes that do not report cores.
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
