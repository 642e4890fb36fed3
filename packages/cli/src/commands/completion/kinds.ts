// The kind of value of each command's arguments, for completion.

export const VALUE_KINDS = [
  "allocations",
  "nodes",
  "groups",
  "vclusters",
  "tenants",
  "users",
  "grantees",
  "projects",
  "names",
  "tags",
  "tag-names",
  "reasons",
  "features",
  "images",
  "cached-images",
  "containers",
  "views",
  "dags",
  "services",
  "settings",
  "sessions",
  "domains",
  "members",
  "backups",
  "backup-clusters",
  "audit-events",
  "certificates",
  "servers",
] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

/** By command, or by the parent of all commands that share the kind. */
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
  "admin grant": "grantees",
  "admin raft remove-member": "members",
  "admin raft transfer-leader": "members",
  "admin backup verify": "backups",
  "admin restore": "backups",
  "admin pki renew": "certificates",
  "admin pki revoke": "certificates",
  dag: "dags",
  services: "services",
  "uenv list": "images",
  "uenv inspect": "images",
  "uenv pull": "images",
  "uenv test": "images",
};

/** Commands whose argument is a file, a new name, or absent. */
const WITHOUT: readonly string[] = [
  "dag submit",
  "dag list",
  "node list",
  "admin tenant list",
  "admin vcluster list",
  "admin grant list",
];

export function argumentKind(path: readonly string[]): ValueKind | null {
  const words = path.join(" ");
  if (WITHOUT.includes(words) || words.endsWith(" create")) return null;
  return ARGUMENTS[words] ?? ARGUMENTS[path.slice(0, -1).join(" ")] ?? null;
}
