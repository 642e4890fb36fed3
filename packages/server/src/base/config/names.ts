// Aliases of keys, and hints for keys of other products. An alias is equivalent to the main name, but both together are
// refused. A key with a hint is refused with it instead of the nearest spelling.

import type { ConfigProblem } from "./problem.ts";

/** Alias to main name: a section, or a key of one. */
const ALIASES: Readonly<Record<string, string>> = {
  rate_limit: "rate_limits",
  "telemetry.tsdb_endpoint": "telemetry.store_url",
};

/** A key, or a prefix of several, with what to do instead. */
const HINTS: Readonly<Record<string, string>> = {
  storage:
    "is not a section: output is stored in logs.store, backups in backup.destination, and the storage bandwidth is scheduling.storage_mb_per_second; mounts are configured on the nodes",
  federation: "does not exist: this version does not support federation",
  vast: "does not exist: this version does not support storage appliances",
  waldur: "does not exist: this version does not support accounting systems",
  "accounting.provider": "does not exist: this version does not support accounting systems",
  "accounting.waldur": "does not exist: this version does not support accounting systems",
  "telemetry.prod_interval_seconds":
    "does not exist: agents measure with every heartbeat (node_agent.heartbeat_interval), and a time-series store has its own interval",
  "telemetry.mode": "is set per allocation: lattice telemetry --alloc ID --mode MODE",
  bind_network: "does not exist: write the address of the network into api.grpc_listen and quorum.etcd.peer_listen",
  "quorum.bind_network":
    "does not exist: write the address of the network into api.grpc_listen and quorum.etcd.peer_listen",
  "node_agent.bind_network": "does not exist: an agent has the flag --peer-listen",
  raft: "is not a section: the log is under quorum, and the last 5 snapshots are always kept",
  sensitive:
    "is not a section: this version does not wipe nodes; docs/operating/nodes.md describes the cleanup between users",
  partition_mapping: "belongs to the CLI: write it into /etc/lattice/compat.yaml",
  qos_mapping: "belongs to the CLI: write it into /etc/lattice/compat.yaml",
};

/** Returns the hint for an unknown key; `null` without one. */
export function hintFor(key: string): string | null {
  const found = Object.keys(HINTS).find((known) => key === known || key.startsWith(`${known}.`));
  return found === undefined ? null : (HINTS[found] ?? null);
}

/** Replaces an alias at the start of a key by its main name. */
export function mainName(key: string): string {
  const alias = Object.keys(ALIASES).find((known) => key === known || key.startsWith(`${known}.`));
  return alias === undefined ? key : `${ALIASES[alias]}${key.slice(alias.length)}`;
}

/** Replaces every alias in a document by its main name. */
export function withMainNames(document: unknown): { readonly document: unknown; readonly problems: ConfigProblem[] } {
  if (!isTable(document)) return { document, problems: [] };
  const problems: ConfigProblem[] = [];
  let named = document;
  for (const [alias, main] of Object.entries(ALIASES)) {
    const [section = "", key] = alias.split(".");
    const [, mainKey = ""] = main.split(".");
    const onBoth = () => problems.push({ path: alias, message: `is an alias of ${main}: use one of them` });
    if (key === undefined) named = renamed(named, { from: alias, to: main }, onBoth);
    else if (isTable(named[section]))
      named = { ...named, [section]: renamed(named[section], { from: key, to: mainKey }, onBoth) };
  }
  return { document: named, problems };
}

type Table = Readonly<Record<string, unknown>>;

function renamed(
  table: Table,
  { from, to }: { readonly from: string; readonly to: string },
  onBoth: () => void,
): Table {
  if (!Object.hasOwn(table, from)) return table;
  if (Object.hasOwn(table, to)) onBoth();
  const { [from]: value, ...rest } = table;
  return { ...rest, [to]: value };
}

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);
