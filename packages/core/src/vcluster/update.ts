// A vCluster's policy changes from the next cycle on. A lower walltime limit binds new
// submissions; what is queued or running keeps what it was given.

import { problemList } from "../allocation/check-values.ts";
import { canonical } from "../canonical.ts";
import type { UpdateVClusterCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { checkVCluster } from "./check.ts";
import type { VCluster } from "./vcluster.ts";

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
