// Second names of keys, and names that the documentation of the system uses for what is elsewhere here. A second name is as good as the first, but
// not beside it. What is elsewhere, or is not there, is refused with where to look instead of with the nearest spelling.

import type { ConfigProblem } from "./problem.ts";

/** Second name to first: a section, or a key of one. */
const SECOND_NAMES: Readonly<Record<string, string>> = {
  rate_limit: "rate_limits",
  "telemetry.tsdb_endpoint": "telemetry.store_url",
};

/** A key, or the beginning of several, with what to do instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  storage:
    "is no section: output is kept where logs.store says, backups where backup.destination says, and the storage's speed is scheduling.storage_mb_per_second; mounts belong to the nodes",
  federation: "is not there: this version joins no sites",
  vast: "is not there: this version speaks to no storage appliance",
  waldur: "is not there: this version hands usage on to no accounting system",
  "accounting.provider": "is not there: this version hands usage on to no accounting system",
  "accounting.waldur": "is not there: this version hands usage on to no accounting system",
  "telemetry.prod_interval_seconds":
    "is not set here: agents measure with every heartbeat (node_agent.heartbeat_interval), a time-series store as often as it asks",
  "telemetry.mode": "is not set here but for each allocation: lattice telemetry --alloc ID --mode MODE",
  bind_network: "is not there: write the address of the network into api.grpc_listen and quorum.etcd.peer_listen",
  "quorum.bind_network":
    "is not there: write the address of the network into api.grpc_listen and quorum.etcd.peer_listen",
  "node_agent.bind_network": "is not there: an agent is told by its flag --peer-listen",
  raft: "is no section: the log is under quorum, and the last 5 snapshots are always kept",
  sensitive: "is no section: this version wipes no nodes; what it clears between users is in docs/operating/nodes.md",
  partition_mapping: "is not the servers' but the CLI's: write it into /etc/lattice/compat.yaml",
  qos_mapping: "is not the servers' but the CLI's: write it into /etc/lattice/compat.yaml",
};

/** Null: there is nothing to say about it. */
export function elsewhere(key: string): string | null {
  const found = Object.keys(ELSEWHERE).find((known) => key === known || key.startsWith(`${known}.`));
  return found === undefined ? null : (ELSEWHERE[found] ?? null);
}

/** The first name of a key or of the beginning of some. */
export function firstName(key: string): string {
  const second = Object.keys(SECOND_NAMES).find((known) => key === known || key.startsWith(`${known}.`));
  return second === undefined ? key : `${SECOND_NAMES[second]}${key.slice(second.length)}`;
}

/** The document under first names. */
export function withFirstNames(document: unknown): { readonly document: unknown; readonly problems: ConfigProblem[] } {
  if (!isTable(document)) return { document, problems: [] };
  const problems: ConfigProblem[] = [];
  let named = document;
  for (const [second, first] of Object.entries(SECOND_NAMES)) {
    const [section = "", key] = second.split(".");
    const [, firstKey = ""] = first.split(".");
    const both = () => problems.push({ path: second, message: `is another name of ${first}: write one of them` });
    if (key === undefined) named = renamed(named, second, first, both);
    else if (isTable(named[section])) named = { ...named, [section]: renamed(named[section], key, firstKey, both) };
  }
  return { document: named, problems };
}

type Table = Readonly<Record<string, unknown>>;

function renamed(table: Table, second: string, first: string, both: () => void): Table {
  if (!Object.hasOwn(table, second)) return table;
  if (Object.hasOwn(table, first)) both();
  const { [second]: value, ...rest } = table;
  return { ...rest, [first]: value };
}

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);
