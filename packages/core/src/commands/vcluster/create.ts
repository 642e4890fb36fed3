// vcluster.create: an administrator creates a vCluster. At most one is the default: a new default replaces the old one.

import type { Duration, TenantId, VClusterId } from "../../base/ids.ts";
import { parseVClusterId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields } from "../../base/outcome.ts";
import { problemList } from "../../model/checks.ts";
import type { Origin } from "../../model/origin.ts";
import { checkVCluster } from "../../model/vcluster/check.ts";
import type { Lending, Preemptible } from "../../model/vcluster/lending.ts";
import type { SchedulerKind, VCluster, Weights } from "../../model/vcluster/vcluster.ts";
import type { Step } from "../../transitions/step.ts";

export interface CreateVClusterCommand {
  readonly kind: "vcluster.create";
  readonly origin: Origin;
  readonly vcluster: VClusterId;
  readonly description: string;
  readonly tenant: TenantId | null;
  readonly scheduler: SchedulerKind;
  readonly weights: Weights;
  readonly cycleInterval: Duration;
  readonly backfillDepth: number;
  readonly defaultWalltime: Duration;
  readonly maxWalltime: Duration | null;
  readonly isDefault: boolean;
  readonly preempts?: boolean;
  readonly preemptible?: Preemptible;
  readonly borrows?: boolean;
  readonly lending?: Lending | null;
  readonly sharesNodes?: boolean;
}

export function createVCluster(step: Step, command: CreateVClusterCommand): Outcome {
  const { kind: _kind, origin, vcluster: id, ...policy } = command;
  const vcluster: VCluster = { id, ...policy, createdAt: step.at };
  const problems = problemList();
  problems.unless(parseVClusterId(id) !== null, "id", "must be 1 to 63 letters, digits, dots, dashes or underscores");
  checkVCluster(problems, vcluster);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (step.state.vcluster(id) !== undefined) return refuse("already_exists", `vCluster "${id}" exists already`);
  if (vcluster.tenant !== null && step.state.tenant(vcluster.tenant) === undefined) {
    return refuse("unknown_tenant", `there is no tenant ${quote(vcluster.tenant)}`);
  }

  if (vcluster.isDefault) clearDefault(step);
  step.state.tables.vclusters.set(id, vcluster);
  step.events.push({ kind: "vcluster_changed", vcluster: id, from: "", to: "created", user: origin.user });
  return accepted(id);
}

function clearDefault(step: Step): void {
  for (const other of step.state.vclusters()) {
    if (!other.isDefault) continue;
    step.state.tables.vclusters.set(other.id, { ...other, isDefault: false });
    step.events.push({ kind: "vcluster_changed", vcluster: other.id, to: "updated", reason: "no longer the default" });
  }
}
