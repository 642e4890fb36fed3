// Reads the inputs of a replay: trace, machine, weights. Writes nothing; every error names its file.

import { statSync } from "node:fs";
import { BadInput } from "../bad-input.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { type SetupOptions, tracedInventory } from "../policy/lattice/setup.ts";
import { readTrace } from "../trace/read.ts";
import type { Trace } from "../trace/trace.ts";
import { TraceError } from "../trace/trace-error.ts";
import type { Profile, Profiles } from "../weights/profile.ts";
import { MAX_COUNT } from "./numbers.ts";

export interface InputOptions {
  readonly trace?: string;
  readonly nodes?: string;
  readonly weights?: string;
  readonly processorsPerNode?: number;
  readonly jobs?: number;
}

interface Inputs {
  readonly trace: Trace;
  readonly setup: SetupOptions;
  readonly warnings: readonly string[];
}

export async function readInputs(options: InputOptions): Promise<Inputs> {
  const { trace: file, nodes, weights, jobs = null } = options;
  if (file === undefined) throw new BadInput("--trace", null, "is missing: name the trace to replay");
  const unit = options.processorsPerNode ?? null;
  const equal = nodes === undefined ? null : countIn(nodes);
  const inventory = nodes === undefined || equal !== null ? null : await inventoryIn(nodes);
  const profiles = weights === undefined ? null : await profilesIn(weights);
  const size = inventory === null ? equal : inventory.nodes.length * (unit ?? 1);
  const trace = traceIn(file, size, jobs);
  checkHomes(inventory ?? tracedInventory(trace), profiles?.profiles ?? trace.vclusters, nodes ?? file);
  if (unit !== null && trace.nodes < unit) {
    throw new BadInput("--processors-per-node", null, `${unit} is more than the machine has: ${trace.nodes}`);
  }
  const warnings = [...trace.warnings.map((text) => `${file}: ${text}`), ...(profiles?.warnings ?? [])];
  return { trace, setup: { inventory, profiles, unit }, warnings };
}

/** Refuses an output that cannot become a folder, before the replay runs. */
export function checkOutput(folder: string | undefined): void {
  if (folder === undefined) return;
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) throw new BadInput(folder, null, "is not a folder");
}

function traceIn(file: string, nodes: number | null, jobs: number | null): Trace {
  try {
    return readTrace(file, { nodes, jobs });
  } catch (error) {
    if (error instanceof TraceError) throw new BadInput(file, error.line, error.message);
    throw error;
  }
}

/** Returns `null` when the text is not a number, and so the name of a file. */
function countIn(text: string): number | null {
  if (!/^[-+]?[\d.]+$/.test(text)) return null;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_COUNT) return value;
  throw new BadInput("--nodes", null, `must be a whole number from 1 to ${MAX_COUNT}, or a file: ${text}`);
}

// The YAML parser is loaded on demand: loading takes longer than a small replay.
const inventoryIn = async (file: string): Promise<Inventory> =>
  (await import("../inventory/read.ts")).readInventory(file);

const profilesIn = async (file: string): Promise<Profiles> => (await import("../weights/read.ts")).readProfiles(file);

function checkHomes(inventory: Inventory | null, profiles: readonly Profile[], file: string): void {
  const known = new Set<string>(profiles.map((profile) => profile.vcluster));
  const homeless = inventory?.nodes.find(({ homeVCluster }) => homeVCluster !== null && !known.has(homeVCluster));
  if (homeless === undefined) return;
  const detail = `${homeless.id} belongs to vCluster "${homeless.homeVCluster}", which no weight profile defines`;
  throw new BadInput(file, null, detail);
}
