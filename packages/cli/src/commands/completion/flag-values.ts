// The completion of flag values: a fixed list, or values from the server. The meaning of a flag may depend on the
// command (--nodes), so rows name their commands; the first matching row wins.

import { METRICS } from "@lattice/wire";
import { dashed, SCHEDULERS } from "../../parse/scheduler.ts";
import { ALLOCATION_STATES, DAG_STATES, ENDED_STATES, NODE_STATES } from "../../parse/states.ts";
import type { ValueKind } from "./kinds.ts";

type FlagValues =
  | { readonly kind: ValueKind; readonly words?: undefined }
  | { readonly words: readonly string[]; readonly kind?: undefined };

interface Row {
  readonly flags: readonly string[];
  /** These commands and their subcommands. Default: all. */
  readonly at?: readonly string[];
  readonly values: FlagValues | null;
}

const asked = (kind: ValueKind): FlagValues => ({ kind });
const known = (...words: readonly string[]): FlagValues => ({ words });

const SUBMITTING = ["submit", "plan", "session"];
const CLASSES = known("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
const LIMITS = known(
  "max_nodes",
  "max_concurrent_allocations",
  "fair_share_target",
  "gpu_hours_budget",
  "node_hours_budget",
  "burst_allowance",
  "max_network_domains",
);

const ROWS: readonly Row[] = [
  { flags: ["--alloc", "--allocation", "--depends-on"], values: asked("allocations") },
  { flags: ["--node"], values: asked("nodes") },
  { flags: ["--nodes"], at: ["cache", "uenv", "admin vcluster"], values: asked("nodes") },
  { flags: ["--group"], values: asked("groups") },
  { flags: ["--vcluster"], values: asked("vclusters") },
  { flags: ["--tenant", "--of"], values: asked("tenants") },
  { flags: ["--name"], at: ["admin tenant create", "admin vcluster create"], values: null },
  { flags: ["--name"], at: ["admin tenant"], values: asked("tenants") },
  { flags: ["--name"], at: ["admin vcluster"], values: asked("vclusters") },
  { flags: ["--name"], at: ["status"], values: asked("names") },
  { flags: ["--user"], values: asked("users") },
  { flags: ["--project"], values: asked("projects") },
  { flags: ["--tag"], values: asked("tags") },
  { flags: ["--remove-tag"], values: asked("tag-names") },
  { flags: ["--reason"], at: ["status"], values: asked("reasons") },
  { flags: ["--constraint"], values: asked("features") },
  { flags: ["--uenv", "--tools-uenv"], values: asked("images") },
  { flags: ["--image"], at: ["cache warm"], values: asked("images") },
  { flags: ["--image"], at: ["cache"], values: asked("cached-images") },
  { flags: ["--image"], values: asked("containers") },
  { flags: ["--view"], values: asked("views") },
  { flags: ["--network-domain", "--domain"], values: asked("domains") },
  { flags: ["--source"], values: asked("backups") },
  { flags: ["--cluster"], values: asked("backup-clusters") },
  { flags: ["--event-type"], values: asked("audit-events") },
  { flags: ["--url", "--server"], values: asked("servers") },
  { flags: ["--state"], at: ["status", "cancel"], values: known(...ALLOCATION_STATES) },
  { flags: ["--state"], at: ["history"], values: known(...ENDED_STATES) },
  { flags: ["--state"], at: ["nodes", "node list"], values: known(...NODE_STATES) },
  { flags: ["--state"], at: ["dag list"], values: known(...DAG_STATES) },
  { flags: ["--metric", "--metrics"], values: known(...METRICS) },
  { flags: ["--scale-metric"], values: known("cpu_utilization", "gpu_utilization") },
  { flags: ["--align"], values: known("relative", "absolute") },
  { flags: ["--scheduler"], values: known(...SCHEDULERS.map(dashed)) },
  { flags: ["--topology"], at: SUBMITTING, values: known("any", "tight") },
  { flags: ["--priority"], at: SUBMITTING, values: known("low", "normal", "high") },
  {
    flags: ["--checkpoint"],
    at: SUBMITTING,
    values: known("auto", "manual", "none", "signal", "shmem", "grpc", "dmtcp"),
  },
  { flags: ["--intent"], values: known("train", "serve", "interactive", "batch") },
  { flags: ["--telemetry"], values: known("prod", "debug", "audit") },
  { flags: ["--memory-policy"], values: known("local", "interleave", "preferred", "bind") },
  { flags: ["--preemption-class", "--class", "--max-preemption-class", "--lend-max-class"], values: CLASSES },
  { flags: ["--preemptible"], values: known("always", "borrowed", "never") },
  { flags: ["--unset"], values: LIMITS },
  { flags: ["--kind"], at: ["admin pki"], values: known("server", "agent", "client") },
  {
    flags: ["--scope"],
    at: ["admin token"],
    values: known("admin", "tenant:admin", "operator", "readonly", "agent", "agent:any", "member", "member:any"),
  },
  {
    flags: ["--scope"],
    at: ["audit"],
    values: known("access", "tenants", "nodes", "work", "cluster", "sensitive"),
  },
];

/** Returns null for free text or a file name. */
export function flagValues(path: readonly string[], flag: string): FlagValues | null {
  const words = path.join(" ");
  const isAt = (place: string): boolean => words === place || words.startsWith(`${place} `);
  const row = ROWS.find(({ flags, at }) => flags.includes(flag) && (at === undefined || at.some(isAt)));
  return row?.values ?? null;
}
