// What a new cluster starts with: the tenant `default` and the four vClusters, the retention from the configuration, and the key
// of its jobs' tokens. Run by every new leader; it proposes only what is missing.

import { randomBytes } from "node:crypto";
import {
  type ClusterLimits,
  type Command,
  canonical,
  duration,
  type Hook,
  LEDGER_VERSION,
  type NetworkSettings,
  type Origin,
  type Retention,
  type SchedulerKind,
  seconds,
  type TenantId,
  UNLIMITED,
  type UserName,
  type VClusterId,
  type View,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { knowLedger } from "../controllers/ledger/decide.ts";
import type { Sequencer } from "./sequencer.ts";
import type { EntryReader } from "./versions.ts";

const ORIGIN: Origin = { user: "lattice" as UserName, requestId: null, bodyHash: "" };

/** As many as the hash that is made with it has. */
export const SECRET_BYTES = 32;

interface FirstVCluster {
  readonly id: string;
  readonly description: string;
  readonly scheduler: SchedulerKind;
  readonly cycleSeconds: number;
  readonly isDefault: boolean;
}

const FIRST_VCLUSTERS: readonly FirstVCluster[] = [
  {
    id: "hpc-batch",
    description: "Batch jobs, backfilled",
    scheduler: "hpc_backfill",
    cycleSeconds: 15,
    isDefault: true,
  },
  { id: "ml-training", description: "Training runs", scheduler: "ml_training", cycleSeconds: 15, isDefault: false },
  {
    id: "service",
    description: "Long-running services",
    scheduler: "service_bin_pack",
    cycleSeconds: 10,
    isDefault: false,
  },
  {
    id: "interactive",
    description: "Short interactive work",
    scheduler: "interactive_fifo",
    cycleSeconds: 5,
    isDefault: false,
  },
];

export interface BootstrapOptions {
  readonly retention: Retention;
  readonly backfillDepth: number;
  /** From configuration: who wants to be told of ends. */
  readonly hooks: readonly Hook[];
  readonly network: NetworkSettings;
  readonly limits: ClusterLimits;
  /** Whether the cluster signs the tokens of its jobs itself. */
  readonly makesTokens: boolean;
  /** The other servers that are there, and the newest entries that each can apply. */
  readonly readers: () => readonly EntryReader[];
}

export async function bootstrap(view: View, sequencer: Sequencer, options: BootstrapOptions): Promise<void> {
  await Promise.all(missing(view, options).map((command) => sequencer.propose(command)));
}

export function missing(view: View, options: BootstrapOptions): Command[] {
  const commands: Command[] = [];
  if (!same(view.retention, options.retention)) commands.push({ kind: "retention.set", ...options.retention });
  const hooks = options.hooks.map(({ name, tenant, states, notices }) => ({ name, tenant, states, notices }));
  // Servers of the version before know no webhooks.
  const known = view.version >= LEDGER_VERSION || knowLedger(options.readers());
  if (known && canonical([...view.hooks()]) !== canonical(hooks)) commands.push({ kind: "hooks.set", hooks });
  if (known && canonical(view.network) !== canonical(options.network))
    commands.push({ kind: "network.set", settings: options.network });
  if (known && canonical(view.limits) !== canonical(options.limits))
    commands.push({ kind: "limits.set", limits: options.limits });
  if (known && options.makesTokens && view.secret("jobs") === null)
    commands.push({ kind: "secret.keep", name: "jobs", value: randomBytes(SECRET_BYTES).toString("base64url") });
  // Only an empty cluster gets its first tenant and vClusters: what an administrator removed stays removed.
  if ([...view.vclusters()].length > 0) return commands;
  if (view.version < LEDGER_VERSION && knowLedger(options.readers())) commands.push({ kind: "ledger.begin" });
  commands.push({
    kind: "tenant.create",
    origin: ORIGIN,
    tenant: "default" as TenantId,
    description: "The tenant of those who name none",
    quota: UNLIMITED,
    maxPreemptionClass: 10,
  });
  for (const first of FIRST_VCLUSTERS) {
    commands.push({
      kind: "vcluster.create",
      origin: ORIGIN,
      vcluster: first.id as VClusterId,
      description: first.description,
      tenant: null,
      scheduler: first.scheduler,
      weights: WEIGHT_PROFILES[first.scheduler],
      cycleInterval: seconds(first.cycleSeconds),
      backfillDepth: options.backfillDepth,
      defaultWalltime: duration(24 * 3_600_000),
      maxWalltime: null,
      isDefault: first.isDefault,
    });
  }
  return commands;
}

const same = (a: Retention, b: Retention): boolean =>
  a.maxFinished === b.maxFinished && a.maxFinishedAge === b.maxFinishedAge;
