// vcluster.update: changes a vCluster's policy from the next cycle on. A lower walltime limit applies to new
// submissions; queued and running work keeps its walltime.

import { canonical } from "../../base/canonical.ts";
import type { Duration, VClusterId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, unchanged } from "../../base/outcome.ts";
import { problemList } from "../../model/checks.ts";
import type { Origin } from "../../model/origin.ts";
import { checkVCluster } from "../../model/vcluster/check.ts";
import type { Lending, Preemptible } from "../../model/vcluster/lending.ts";
import type { VCluster, Weights } from "../../model/vcluster/vcluster.ts";
import type { Step } from "../../transitions/step.ts";

export interface UpdateVClusterCommand {
  readonly kind: "vcluster.update";
  readonly origin: Origin;
  readonly vcluster: VClusterId;
  readonly change: {
    readonly description?: string;
    readonly weights?: Partial<Weights>;
    readonly cycleInterval?: Duration;
    readonly backfillDepth?: number;
    readonly defaultWalltime?: Duration;
    readonly maxWalltime?: Duration | null;
    readonly preempts?: boolean;
    readonly preemptible?: Preemptible;
    readonly borrows?: boolean;
    readonly lending?: Lending | null;
    readonly sharesNodes?: boolean;
  };
}

export function updateVCluster(step: Step, command: UpdateVClusterCommand): Outcome {
  const known = step.state.vcluster(command.vcluster);
  if (known === undefined) return refuse("unknown_vcluster", `there is no vCluster ${quote(command.vcluster)}`);
  const { weights, ...change } = command.change;
  const vcluster: VCluster = { ...known, ...change, weights: { ...known.weights, ...weights } };
  const problems = problemList();
  checkVCluster(problems, vcluster);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (canonical(vcluster) === canonical(known)) return unchanged(known.id);

  step.state.tables.vclusters.set(vcluster.id, vcluster);
  step.events.push({ kind: "vcluster_changed", vcluster: vcluster.id, to: "updated", user: command.origin.user });
  return accepted(vcluster.id);
}
