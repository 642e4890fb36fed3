// The vCluster of a submission without one, chosen by its intent. The name of a vCluster selects it; a known kind of
// work selects a vCluster with the scheduler for it, the tenant's own before a shared one. An unknown intent selects the
// default vCluster.

import type { SchedulerKind, VCluster, View } from "@lattice/core";

const WORDS: Readonly<Record<SchedulerKind, readonly string[]>> = {
  ml_training: ["train", "training", "pretrain", "pretraining", "finetune", "fine-tune", "fine-tuning", "ml"],
  service_bin_pack: ["serve", "serving", "service", "inference", "endpoint", "api", "deploy"],
  interactive_fifo: ["interactive", "session", "notebook", "debug", "shell", "explore"],
  sensitive_reservation: ["sensitive", "medical", "clinical", "regulated"],
  hpc_backfill: ["batch", "simulate", "simulation", "mpi", "hpc", "render", "preprocess", "evaluate", "eval"],
};

/** The first intent with a matching vCluster decides. Returns "" when the cluster has no default vCluster. */
export function vclusterFor(view: View, intents: readonly string[], tenant: string): string {
  const open = [...view.vclusters()].filter((vcluster) => vcluster.tenant === null || vcluster.tenant === tenant);
  for (const word of intents.map((intent) => intent.trim().toLowerCase())) {
    if (word === "") continue;
    const named = open.find(({ id }) => id.toLowerCase() === word);
    if (named !== undefined) return named.id;
    const kind = kindOf(word);
    const fitting = kind === null ? undefined : best(open, kind);
    if (fitting !== undefined) return fitting.id;
  }
  for (const vcluster of view.vclusters()) if (vcluster.isDefault) return vcluster.id;
  return "";
}

function kindOf(word: string): SchedulerKind | null {
  const kinds = Object.keys(WORDS) as SchedulerKind[];
  return kinds.find((kind) => WORDS[kind].includes(word) || kind === word.replaceAll("-", "_")) ?? null;
}

function best(open: readonly VCluster[], kind: SchedulerKind): VCluster | undefined {
  const rank = ({ tenant, isDefault, id }: VCluster): string => `${tenant === null ? 1 : 0}${isDefault ? 0 : 1}${id}`;
  return open.filter(({ scheduler }) => scheduler === kind).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}
