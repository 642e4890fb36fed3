// Which arguments and flags name things that the server knows, and of what kind.

import { METRICS } from "@lattice/wire";
import { dashed, SCHEDULERS } from "../../parse/scheduler.ts";
import { ALLOCATION_STATES, DAG_STATES, ENDED_STATES, NODE_STATES } from "../../parse/states.ts";

export const VALUE_KINDS = [
  "allocations",
  "nodes",
  "vclusters",
  "tenants",
  "images",
  "dags",
  "services",
  "settings",
  "sessions",
] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

/** Words of a command, or its beginning: all commands below it. */
const ARGUMENTS: Readonly<Record<string, ValueKind>> = {
  status: "allocations",
  why: "allocations",
  logs: "allocations",
  attach: "allocations",
  watch: "allocations",
  cancel: "allocations",
  hold: "allocations",
  release: "allocations",
  top: "allocations",
  diag: "allocations",
  compare: "allocations",
  telemetry: "allocations",
  checkpoint: "allocations",
  resume: "allocations",
  update: "allocations",
  "session end": "sessions",
  nodes: "nodes",
  node: "nodes",
  "admin drain": "nodes",
  "admin undrain": "nodes",
  "admin vcluster": "vclusters",
  "admin tenant": "tenants",
  "admin config": "settings",
  dag: "dags",
  services: "services",
  "uenv inspect": "images",
  "uenv pull": "images",
};

/** Of files, or of nothing that is there yet. */
const WITHOUT: readonly string[] = ["dag submit", "dag list", "node list"];

export const FLAG_KINDS: Readonly<Partial<Record<ValueKind, readonly string[]>>> = {
  allocations: ["--alloc"],
  nodes: ["--node"],
  vclusters: ["--vcluster"],
  tenants: ["--tenant", "-t"],
  images: ["--uenv", "--tools-uenv"],
};

/** Flags of several commands whose values are few, but no choice: lists of them, or words beside others. */
const FLAG_WORDS: Readonly<Record<string, readonly string[]>> = {
  "--metric": METRICS,
  "--align": ["relative", "absolute"],
  "--scheduler": SCHEDULERS.map(dashed),
  "--topology": ["any", "tight"],
  "--telemetry": ["prod", "debug", "audit"],
  "--priority": ["low", "normal", "high"],
  "--memory-policy": ["local", "interleave", "preferred", "bind"],
};

const STATES: Readonly<Record<string, readonly string[]>> = {
  status: ALLOCATION_STATES,
  cancel: ALLOCATION_STATES,
  history: ENDED_STATES,
  nodes: NODE_STATES,
  "node list": NODE_STATES,
  "dag list": DAG_STATES,
};

/** What a flag of this command may be, beyond what the flag itself says; null: anything. */
export const flagWords = (path: readonly string[], flag: string): readonly string[] | null =>
  (flag === "--state" ? STATES[path.join(" ")] : FLAG_WORDS[flag]) ?? null;

export function argumentKind(path: readonly string[]): ValueKind | null {
  const words = path.join(" ");
  if (WITHOUT.includes(words) || words.endsWith(" create")) return null;
  return ARGUMENTS[words] ?? ARGUMENTS[path.slice(0, -1).join(" ")] ?? null;
}

export function flagKind(flag: string): ValueKind | null {
  const found = Object.entries(FLAG_KINDS).find(([, flags]) => flags.includes(flag));
  return found === undefined ? null : (found[0] as ValueKind);
}
