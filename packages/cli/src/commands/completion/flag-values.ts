// What is offered behind a flag: words that are known here, or what the server names. The same flag means different
// things in some commands, such as --nodes, so a row says where it holds; the first that fits counts.

import { METRICS } from "@lattice/wire";
import { dashed, SCHEDULERS } from "../../parse/scheduler.ts";
import { ALLOCATION_STATES, DAG_STATES, ENDED_STATES, NODE_STATES } from "../../parse/states.ts";
import type { ValueKind } from "./kinds.ts";

export type Offer =
  | { readonly kind: ValueKind; readonly words?: undefined }
  | { readonly words: readonly string[]; readonly kind?: undefined };

interface Row {
  readonly flags: readonly string[];
  /** These commands, and all below them; absent: all. */
  readonly at?: readonly string[];
  readonly offer: Offer | null;
}

const asked = (kind: ValueKind): Offer => ({ kind });
const known = (...words: readonly string[]): Offer => ({ words });

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
  { flags: ["--alloc", "--allocation", "--depends-on"], offer: asked("allocations") },
  { flags: ["--node"], offer: asked("nodes") },
  { flags: ["--nodes"], at: ["cache", "uenv", "admin vcluster"], offer: asked("nodes") },
  { flags: ["--group"], offer: asked("groups") },
  { flags: ["--vcluster"], offer: asked("vclusters") },
  { flags: ["--tenant", "--of"], offer: asked("tenants") },
  { flags: ["--name"], at: ["admin tenant create", "admin vcluster create"], offer: null },
  { flags: ["--name"], at: ["admin tenant"], offer: asked("tenants") },
  { flags: ["--name"], at: ["admin vcluster"], offer: asked("vclusters") },
  { flags: ["--name"], at: ["status"], offer: asked("names") },
  { flags: ["--user"], offer: asked("users") },
  { flags: ["--project"], offer: asked("projects") },
  { flags: ["--tag"], offer: asked("tags") },
  { flags: ["--remove-tag"], offer: asked("tag-names") },
  { flags: ["--reason"], at: ["status"], offer: asked("reasons") },
  { flags: ["--constraint"], offer: asked("features") },
  { flags: ["--uenv", "--tools-uenv"], offer: asked("images") },
  { flags: ["--image"], at: ["cache warm"], offer: asked("images") },
  { flags: ["--image"], at: ["cache"], offer: asked("cached-images") },
  { flags: ["--image"], offer: asked("containers") },
  { flags: ["--view"], offer: asked("views") },
  { flags: ["--network-domain", "--domain"], offer: asked("domains") },
  { flags: ["--source"], offer: asked("backups") },
  { flags: ["--event-type"], offer: asked("audit-events") },
  { flags: ["--url", "--server"], offer: asked("servers") },
  { flags: ["--state"], at: ["status", "cancel"], offer: known(...ALLOCATION_STATES) },
  { flags: ["--state"], at: ["history"], offer: known(...ENDED_STATES) },
  { flags: ["--state"], at: ["nodes", "node list"], offer: known(...NODE_STATES) },
  { flags: ["--state"], at: ["dag list"], offer: known(...DAG_STATES) },
  { flags: ["--metric", "--metrics"], offer: known(...METRICS) },
  { flags: ["--scale-metric"], offer: known("cpu_utilization", "gpu_utilization") },
  { flags: ["--align"], offer: known("relative", "absolute") },
  { flags: ["--scheduler"], offer: known(...SCHEDULERS.map(dashed)) },
  { flags: ["--topology"], at: SUBMITTING, offer: known("any", "tight") },
  { flags: ["--priority"], at: SUBMITTING, offer: known("low", "normal", "high") },
  {
    flags: ["--checkpoint"],
    at: SUBMITTING,
    offer: known("auto", "manual", "none", "signal", "shmem", "grpc", "dmtcp"),
  },
  { flags: ["--intent"], offer: known("train", "serve", "interactive", "batch") },
  { flags: ["--telemetry"], offer: known("prod", "debug", "audit") },
  { flags: ["--memory-policy"], offer: known("local", "interleave", "preferred", "bind") },
  { flags: ["--preemption-class", "--class", "--max-preemption-class", "--lend-max-class"], offer: CLASSES },
  { flags: ["--preemptible"], offer: known("always", "borrowed", "never") },
  { flags: ["--unset"], offer: LIMITS },
  { flags: ["--kind"], at: ["admin pki"], offer: known("server", "agent", "client") },
  {
    flags: ["--scope"],
    at: ["admin token"],
    offer: known("admin", "tenant:admin", "operator", "readonly", "agent", "agent:any"),
  },
  {
    flags: ["--scope"],
    at: ["audit"],
    offer: known("access", "tenants", "nodes", "work", "cluster", "sensitive"),
  },
];

/** Null: anything, or a file. */
export function flagOffer(path: readonly string[], flag: string): Offer | null {
  const words = path.join(" ");
  const isAt = (place: string): boolean => words === place || words.startsWith(`${place} `);
  const row = ROWS.find(({ flags, at }) => flags.includes(flag) && (at === undefined || at.some(isAt)));
  return row?.offer ?? null;
}
