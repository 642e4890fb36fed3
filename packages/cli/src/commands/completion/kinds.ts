// Which arguments and flags name things that the server knows, and of what kind.

import { METRICS } from "@lattice/wire";

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

/** Flags whose values are few and known without a server. */
export const FLAG_WORDS: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    ["-o", "--output"],
    ["table", "wide", "json", "yaml"],
  ],
  [["--metric"], METRICS],
  [["--align"], ["relative", "absolute"]],
  [["--topology"], ["any", "tight"]],
  [
    ["--telemetry", "--mode"],
    ["prod", "debug", "audit"],
  ],
  [["--priority"], ["low", "normal", "high"]],
  [["--memory-policy"], ["local", "interleave", "preferred", "bind"]],
];

export const flagWords = (flag: string): readonly string[] | null =>
  FLAG_WORDS.find(([flags]) => flags.includes(flag))?.[1] ?? null;

export function argumentKind(path: readonly string[]): ValueKind | null {
  const words = path.join(" ");
  if (WITHOUT.includes(words) || words.endsWith(" create")) return null;
  return ARGUMENTS[words] ?? ARGUMENTS[path.slice(0, -1).join(" ")] ?? null;
}

export function flagKind(flag: string): ValueKind | null {
  const found = Object.entries(FLAG_KINDS).find(([, flags]) => flags.includes(flag));
  return found === undefined ? null : (found[0] as ValueKind);
}
