// The policies of the six schedulers, one row each, and the settings of a vCluster that override its row: queue order,
// preemption of others, protection from preemption, and lending.

import type { Duration } from "../../base/ids.ts";
import { DEFAULT_MAX_VICTIMS, type Lending, NEAR_COMPLETION, type Preemptible } from "./lending.ts";
import type { SchedulerKind, VCluster } from "./vcluster.ts";

interface Policy {
  readonly order: "score" | "submission";
  /** The scale of a wait: the same for all work, or the requested walltime. */
  readonly wait: "elapsed" | "proportional";
  readonly preempts: boolean;
  /** The most victims for one allocation of this vCluster. */
  readonly maxVictims: number;
  readonly preemptible: Preemptible;
  /** An allocation is not preempted in this last part of its walltime. */
  readonly nearCompletion: Duration;
  /** Prefers nearly full topology groups over empty ones. */
  readonly packs: boolean;
  readonly borrows: boolean;
  /** Work that requests less than a node shares one. */
  readonly sharesNodes: boolean;
  /** `null` when the vCluster lends nothing. */
  readonly lending: Lending | null;
  /** Its claims come first, its nodes are never lent and its work is never preempted. */
  readonly sensitive: boolean;
}

type Row = Omit<Policy, "lending" | "nearCompletion" | "maxVictims">;

const row = (preemptible: Preemptible, change: Partial<Row> = {}): Row => ({
  order: "score",
  wait: "elapsed",
  preempts: true,
  preemptible,
  packs: false,
  borrows: true,
  sharesNodes: false,
  sensitive: false,
  ...change,
});

const POLICIES: Readonly<Record<SchedulerKind, Row>> = {
  // Waits relative to the requested walltime give short mean slowdowns.
  hpc_backfill: row("always", { wait: "proportional" }),
  ml_training: row("always"),
  service_bin_pack: row("borrowed", { packs: true }),
  interactive_fifo: row("always", { order: "submission" }),
  sensitive_reservation: row("never", { borrows: false, sensitive: true }),
};

/** Cached: policies are read many times per second and seldom change. */
export function policyOf(vcluster: VCluster): Policy {
  const known = policies.get(vcluster);
  if (known !== undefined) return known;
  const policy = ownPolicy(vcluster);
  policies.set(vcluster, policy);
  return policy;
}

const policies = new WeakMap<VCluster, Policy>();

function ownPolicy(vcluster: VCluster): Policy {
  const {
    scheduler,
    preempts,
    preemptible,
    borrows,
    lending,
    sharesNodes,
    nearCompletion = NEAR_COMPLETION,
    maxVictims = DEFAULT_MAX_VICTIMS,
  } = vcluster;
  const own = POLICIES[scheduler];
  if (own.sensitive) return { ...own, lending: null, nearCompletion, maxVictims };
  return {
    ...own,
    nearCompletion,
    maxVictims,
    preempts: preempts ?? own.preempts,
    preemptible: preemptible ?? own.preemptible,
    borrows: borrows ?? own.borrows,
    sharesNodes: sharesNodes ?? own.sharesNodes,
    lending: lending ?? null,
  };
}
