// AMD's GPUs, from the JSON of rocm-smi. Keys differ in case between releases, and missing values are left out. The
// kernel reports whether a GPU is healthy, which is faster.

import { isExecutable } from "../../base/executable.ts";
import { driverEnvironment, execFile } from "../../base/programs.ts";
import { type GpuInventory, type GpuTie, type GpuUnit, modelName, NO_GPUS, pciAddress } from "./base/inventory.ts";

const PLACES = ["/opt/rocm/bin/rocm-smi", "/usr/bin/rocm-smi"];
const QUESTIONS = [
  "--showproductname",
  "--showmeminfo",
  "vram",
  "--showuniqueid",
  "--showbus",
  "--showvbios",
  "--showdriverversion",
  "--showtopo",
  "--json",
];
const DEADLINE_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** `program`: empty for the installed one, "none" to skip. Returns null when this node has no such program. */
export function askRocm(program: string): Promise<GpuInventory | null> {
  const path = program === "" ? PLACES.find(isExecutable) : program;
  if (path === undefined || path === "none") return Promise.resolve(null);
  return new Promise((resolve) => {
    const how = {
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL",
      maxBuffer: MAX_ANSWER_BYTES,
      env: driverEnvironment(),
    } as const;
    execFile(path, QUESTIONS, how, (error, answer) => {
      if (error === null) return resolve(parseRocm(answer));
      const why = error.killed === true ? `no answer in ${DEADLINE_MS / 1000} s` : error.message.split("\n")[0];
      resolve({ ...NO_GPUS, faults: [`rocm-smi cannot be asked: ${why}`] });
    });
  });
}

/** Utilization is polled, so a late answer is useless. */
const LOAD_DEADLINE_MS = 5_000;

/**
 * Utilization from 0 to 1 by GPU, with null where it is unknown. Returns null when the node has no such program, or it
 * does not answer.
 */
export function askRocmLoad(program: string): Promise<readonly (number | null)[] | null> {
  const path = program === "" ? PLACES.find(isExecutable) : program;
  if (path === undefined || path === "none") return Promise.resolve(null);
  return new Promise((resolve) => {
    const limits = { timeout: LOAD_DEADLINE_MS, killSignal: "SIGKILL", maxBuffer: MAX_ANSWER_BYTES } as const;
    const how = { ...limits, env: driverEnvironment() } as const;
    execFile(path, ["--showuse", "--json"], how, (error, answer) =>
      resolve(error === null ? parseRocmLoad(answer) : null),
    );
  });
}

export function parseRocmLoad(text: string): readonly (number | null)[] | null {
  const all = readJson(text);
  if (all === null) return null;
  return cardsOf(all).map((words) => {
    const percent = Number(words["gpu use (%)"] ?? Number.NaN);
    return percent >= 0 && percent <= 100 ? percent / 100 : null;
  });
}

type Words = Readonly<Record<string, string>>;

export function parseRocm(text: string): GpuInventory {
  const all = readJson(text);
  if (all === null) return { ...NO_GPUS, faults: ["rocm-smi cannot be asked: its answer makes no sense"] };
  const units = cardsOf(all).map(unitOf);
  const system = all.get("system") ?? {};
  const driver = system["driver version"] ?? "";
  return { ...NO_GPUS, driver, units, ties: tiesOf(system, units.length) };
}

/** In order of their numbers. */
const cardsOf = (all: ReadonlyMap<string, Words>): readonly Words[] =>
  [...all]
    .flatMap(([name, words]) => (/^card\d+$/.test(name) ? [{ card: Number(name.slice("card".length)), words }] : []))
    .sort((a, b) => a.card - b.card)
    .map(({ words }) => words);

function unitOf(words: Words, index: number): GpuUnit {
  return {
    index,
    vendor: "amd",
    model: modelName(words["card series"] ?? words["card model"] ?? ""),
    uuid: words["unique id"] ?? "",
    memoryBytes: Number(words["vram total memory (b)"] ?? 0) || 0,
    pci: pciAddress(words["pci bus"] ?? ""),
    device: "",
    partitioned: false,
    capability: (words["gfx version"] ?? "").toLowerCase(),
    firmware: words["vbios version"] ?? "",
    temperatureC: null,
    fault: "",
  };
}

/** Bandwidth of one Infinity Fabric link; divided by the number of hops. */
const XGMI_MBPS = 50_000;

function tiesOf(system: Words, count: number): GpuTie[] {
  const ties: GpuTie[] = [];
  for (let a = 0; a < count; a += 1) {
    for (let b = a + 1; b < count; b += 1) {
      const pairOf = (what: string): string | undefined =>
        system[`(topology) ${what} between drm devices ${a} and ${b}`] ??
        system[`(topology) ${what} between drm devices ${b} and ${a}`];
      const hops = Math.max(1, Number(pairOf("hops") ?? 1) || 1);
      const joined = pairOf("link type")?.toUpperCase() === "XGMI";
      ties.push(
        joined
          ? { a, b, kind: "xgmi", bandwidthMBps: Math.floor(XGMI_MBPS / hops), far: false }
          : { a, b, kind: "pcie", bandwidthMBps: 0, far: hops > FAR_HOPS },
      );
    }
  }
  return ties;
}

/** Hops of a path within a socket (GPU, bridge, bridge, GPU); a longer one crosses sockets. */
const FAR_HOPS = 2;

function readJson(text: string): ReadonlyMap<string, Words> | null {
  try {
    const parsed = JSON.parse(text) as Record<string, Record<string, unknown>>;
    return new Map(Object.entries(parsed).map(([name, words]) => [name.toLowerCase(), lowered(words)]));
  } catch {
    return null;
  }
}

const lowered = (words: Record<string, unknown>): Words =>
  Object.fromEntries(Object.entries(words ?? {}).map(([key, value]) => [key.toLowerCase(), String(value)]));
