// Users with shares of nodes and with sensitive work on its own nodes, and the administrators who configure both and a
// budget.

import {
  type AllocationSpec,
  type Command,
  duration,
  minimalSpec,
  NO_CONSTRAINTS,
  type NodeId,
  type TenantId,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { programLine } from "../nodes/program.ts";
import { originOf, TENANTS } from "./requests.ts";
import type { UserContext, UserGroup } from "./user-group.ts";

export const SHARING = "interactive";
export const SENSITIVE = "secret";
/** At home there if available: more than the pool permits at a time. */
const SECRET_NODES = 4;
const EVERY_MS = { small: 12_000, secret: 40_000, assign: 10_000 } as const;
/** Of the tenant with a budget: exhausted within minutes. */
const BUDGET_HOURS = 1;

export function smallUsers({ client, random, requestId, every, acknowledged, nodes }: UserContext): UserGroup {
  const counts = { smallJobs: 0, secretJobs: 0 };
  const unassigned = nodes.slice(0, SECRET_NODES);

  async function submit(what: "small" | "secret"): Promise<void> {
    const name = requestId(what);
    const spec = what === "small" ? smallSpec(name) : secretSpec(name);
    const outcome = await client.ask({
      kind: "allocation.submit",
      origin: originOf(name),
      spec,
      createTenant: true,
    });
    acknowledged(outcome, name, spec.tenant);
    if (outcome?.kind === "accepted") counts[what === "small" ? "smallJobs" : "secretJobs"] += 1;
  }

  const common = (name: string) => ({
    name,
    tenant: random.pick(TENANTS).id as TenantId,
    task: {
      kind: "entrypoint" as const,
      line: programLine({
        runsMs: random.wait(25_000),
        exitCode: random.chance(0.1) ? 1 : 0,
        stopsMs: random.chance(0.1) ? null : random.wait(300),
        broken: random.chance(0.02),
        unready: random.chance(0.05) ? 0.5 : 0,
      }),
    },
    lifecycle: {
      walltime: duration(90_000),
      preemptionClass: random.between(0, 9),
      requeuePolicy: random.pick(["never", "on_node_failure", "always"] as const),
      maxRequeue: random.between(0, 3),
    },
  });

  const smallSpec = (name: string): AllocationSpec =>
    minimalSpec({
      ...common(name),
      vcluster: SHARING as VClusterId,
      resources: { constraints: { ...NO_CONSTRAINTS, cpuCores: random.pick([4, 8, 16, 24, 40]) } },
    });

  const secretSpec = (name: string): AllocationSpec =>
    minimalSpec({ ...common(name), vcluster: SENSITIVE as VClusterId });

  async function assign(): Promise<void> {
    const node = unassigned.at(-1) as NodeId | undefined;
    if (node === undefined) return;
    const origin = originOf(requestId("assign"));
    const outcome = await client.ask({ kind: "node.assign", origin, node, vcluster: SENSITIVE as VClusterId });
    if (outcome?.kind === "accepted") unassigned.pop();
  }

  return {
    counts,
    begin() {
      for (const command of setUp()) void client.ask(command);
      every(EVERY_MS.small, () => submit("small"));
      every(EVERY_MS.secret, () => submit("secret"));
      every(EVERY_MS.assign, assign);
    },
    tidyUp: () => undefined,
  };
}

const setUp = (): readonly Command[] => [
  {
    kind: "vcluster.update",
    origin: originOf("sharing"),
    vcluster: SHARING as VClusterId,
    change: { sharesNodes: true },
  },
  {
    kind: "vcluster.create",
    origin: originOf("secret"),
    vcluster: SENSITIVE as VClusterId,
    description: "",
    tenant: null,
    scheduler: "sensitive_reservation",
    weights: WEIGHT_PROFILES.sensitive_reservation,
    cycleInterval: duration(5_000),
    backfillDepth: 10,
    defaultWalltime: duration(3_600_000),
    maxWalltime: null,
    isDefault: false,
  },
  {
    kind: "tenant.update",
    origin: originOf("budget"),
    tenant: "default" as TenantId,
    change: { quota: { nodeHoursBudget: BUDGET_HOURS } },
  },
];
