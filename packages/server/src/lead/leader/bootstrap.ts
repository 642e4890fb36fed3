// The initial state of a cluster: the tenant `default`, the four vClusters, the retention from the configuration, and the
// key for the tokens of jobs. Every new leader runs this and proposes only what is missing.

import { randomBytes } from "node:crypto";
import {
  type Command,
  canonical,
  DEFAULT_TENANT,
  duration,
  type Origin,
  parseUserName,
  parseVClusterId,
  present,
  type Retention,
  type SchedulerKind,
  seconds,
  UNLIMITED,
  type View,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { type Config, networkSettings } from "../../base/config/index.ts";
import type { Sequencer } from "../commit/sequencer.ts";

const ORIGIN: Origin = {
  user: present(parseUserName("lattice") ?? undefined, "the user of the initial state is valid"),
  requestId: null,
  bodyHash: "",
};

/** The output length of HMAC-SHA-256. */
export const SECRET_BYTES = 32;

const CLUSTER_ID_BYTES = 16;
const randomClusterId = (): string => randomBytes(CLUSTER_ID_BYTES).toString("hex");

interface FirstVCluster {
  readonly id: string;
  readonly description: string;
  readonly scheduler: SchedulerKind;
  readonly cycleSeconds: number;
  readonly isDefault: boolean;
  /** Small jobs pack onto nodes. */
  readonly sharesNodes?: boolean;
}

const FIRST_VCLUSTERS: readonly FirstVCluster[] = [
  {
    id: "hpc-batch",
    description: "Batch jobs, backfilled",
    scheduler: "hpc_backfill",
    cycleSeconds: 15,
    isDefault: true,
    sharesNodes: true,
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

type BootstrapConfig = Pick<Config, "retention" | "scheduling" | "notifications" | "network" | "api">;

export async function bootstrap(
  view: View,
  sequencer: Sequencer,
  config: BootstrapConfig,
  newClusterId: () => string = randomClusterId,
): Promise<void> {
  if (view.identity === null) await sequencer.propose({ kind: "cluster.found", id: newClusterId() });
  await Promise.all(missing(view, config).map((command) => sequencer.propose(command)));
}

export function missing(view: View, config: BootstrapConfig): Command[] {
  const commands: Command[] = [];
  const { retention, scheduling, notifications, api } = config;
  const settings = networkSettings(config);
  const limits = { sensitivePoolSize: scheduling.sensitivePoolSize };
  if (!same(view.retention, retention)) commands.push({ kind: "retention.set", ...retention });
  const hooks = notifications.webhooks.map(({ name, tenant, states, notices }) => ({ name, tenant, states, notices }));
  if (canonical([...view.hooks()]) !== canonical(hooks)) commands.push({ kind: "hooks.set", hooks });
  if (canonical(view.network) !== canonical(settings)) commands.push({ kind: "network.set", settings });
  if (canonical(view.limits) !== canonical(limits)) commands.push({ kind: "limits.set", limits });
  // With an identity provider, the cluster signs the tokens of its jobs itself.
  if (api.auth.kind === "oidc" && view.secret("jobs") === null)
    commands.push({ kind: "secret.keep", name: "jobs", value: randomBytes(SECRET_BYTES).toString("base64url") });
  // Only an empty cluster gets its first tenant and vClusters: what an administrator removed stays removed.
  if ([...view.vclusters()].length > 0) return commands;
  commands.push({
    kind: "tenant.create",
    origin: ORIGIN,
    tenant: DEFAULT_TENANT,
    description: "Default tenant",
    quota: UNLIMITED,
    maxPreemptionClass: 10,
  });
  for (const first of FIRST_VCLUSTERS) {
    commands.push({
      kind: "vcluster.create",
      origin: ORIGIN,
      vcluster: present(parseVClusterId(first.id) ?? undefined, "names of initial vClusters are valid"),
      description: first.description,
      tenant: null,
      scheduler: first.scheduler,
      weights: WEIGHT_PROFILES[first.scheduler],
      cycleInterval: seconds(first.cycleSeconds),
      backfillDepth: scheduling.backfillDepth,
      defaultWalltime: duration(24 * 3_600_000),
      maxWalltime: null,
      isDefault: first.isDefault,
      ...(first.sharesNodes === true ? { sharesNodes: true } : {}),
    });
  }
  return commands;
}

const same = (a: Retention, b: Retention): boolean =>
  a.maxFinished === b.maxFinished && a.maxFinishedAge === b.maxFinishedAge;
