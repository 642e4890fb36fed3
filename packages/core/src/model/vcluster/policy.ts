// The policies of the six schedulers, one row each, and what a vCluster's own settings change in its row.
// A row says how its queue is ordered, whether its waiting work may stop others, whether its running
// work may be stopped, and whether it takes part in lending at all.

import type { Duration } from "../../base/ids.ts";
import { type Lending, MAX_VICTIMS, NEAR_COMPLETION, type Preemptible } from "./lending.ts";
import type { SchedulerKind, VCluster } from "./vcluster.ts";

interface Policy {
  readonly order: "score" | "submission";
  /** The scale of a wait: the same for all work, or the requested walltime. */
  readonly wait: "elapsed" | "proportional";
  readonly preempts: boolean;
  /** The most victims for one allocation of this vCluster. */
  readonly maxVictims: number;
  readonly preemptible: Preemptible;
  /** Within so much of its walltime an allocation is not stopped. */
  readonly nearCompletion: Duration;
  /** Fills what is nearly full before it touches what is empty, wherever that lies. */
  readonly packs: boolean;
  readonly borrows: boolean;
  /** Its work that asks for less than a node shares one. */
  readonly sharesNodes: boolean;
  /** `null` when the vCluster lends nothing. */
  readonly lending: Lending | null;
  /** Its claims go before everything, its nodes are never lent and its work is never stopped. */
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
  hpc_backfill: row("always"),
  hpc_proportional: row("always", { wait: "proportional" }),
  ml_training: row("always"),
  service_bin_pack: row("borrowed", { packs: true }),
  interactive_fifo: row("always", { order: "submission" }),
  sensitive_reservation: row("never", { borrows: false, sensitive: true }),
};

/** Asked for many times a second, of records that seldom change. */
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
    maxVictims = MAX_VICTIMS,
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
