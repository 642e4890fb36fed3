// Which arguments and flags name things that the server knows, and of what kind.

export const VALUE_KINDS = [
  "allocations",
  "nodes",
  "vclusters",
  "tenants",
  "images",
  "dags",
  "services",
  "settings",
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

export function argumentKind(path: readonly string[]): ValueKind | null {
  const words = path.join(" ");
  if (WITHOUT.includes(words) || words.endsWith(" create")) return null;
  return ARGUMENTS[words] ?? ARGUMENTS[path.slice(0, -1).join(" ")] ?? null;
}

export function flagKind(flag: string): ValueKind | null {
  const found = Object.entries(FLAG_KINDS).find(([, flags]) => flags.includes(flag));
  return found === undefined ? null : (found[0] as ValueKind);
}
