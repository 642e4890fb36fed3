// What may still change after submission: name, tags, class, walltime and how closely it is measured. A new walltime of a
// placed allocation reaches its nodes as a repeated run order, which starts nothing twice and carries
// the new end.

import { canonical } from "../canonical.ts";
import type { UpdateAllocationCommand } from "../command.ts";
import { type Instant, instant } from "../ids.ts";
import { present } from "../invariant.ts";
import type { FieldProblem, Outcome } from "../outcome.ts";
import { renewalBegins } from "../scaling/renewal.ts";
import { accepted, quote, refuse, refuseFields, rejected, type Step, unchanged } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { attemptAt } from "./attempt-on.ts";
import { checkName, checkPreemptionClass, checkSpec, checkTags, checkWalltime } from "./check.ts";
import { isCount, problemList } from "./check-values.ts";
import { withNote } from "./keep-past.ts";
import { hasEnded } from "./let-go.ts";
import { isFinal, isPlaced } from "./phase.ts";
import { type AllocationSpec, isService, TELEMETRY_MODES, type Telemetry } from "./spec.ts";
import { againstClass, againstVCluster } from "./submit.ts";

type Change = UpdateAllocationCommand["change"];

/** Longer than any debugging; whoever wants it for good says so. */
const MAX_TELEMETRY_MS = 30 * 86_400_000;

export function updateAllocation(step: Step, command: UpdateAllocationCommand): Outcome {
  const { state } = step;
  const record = state.allocation(command.id);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.id)}`);
  const bar = whyNotUpdated(step, record, command.change);
  if (bar !== null) return bar;
  const spec = changedSpec(record.spec, command.change, step.at);
  if (canonical(spec) === canonical(record.spec)) return unchanged(record.id);

  const text = `Updated by ${command.origin.user}: ${Object.keys(command.change).map(inWords).join(", ")}.`;
  const changed = renewed({ ...record, spec }, record);
  state.putAllocation(withNote(changed, { type: "state", kind: "updated", text }, step));
  if (changed.renewal !== record.renewal) renewalBegins(step, changed);
  const { kind } = record.phase;
  step.events.push({
    kind: "allocation_changed",
    allocation: record.id,
    attempt: record.attempt,
    tenant: spec.tenant,
    vcluster: spec.vcluster,
    user: record.user,
    from: kind,
    to: kind,
    reason: "updated",
  });
  if (spec.lifecycle.walltime !== record.spec.lifecycle.walltime) repeatOrders(step, record);
  return accepted(record.id);
}

/** Null: it may be changed so. */
export function whyNotUpdated(step: Step, record: Allocation, change: Change): Outcome | null {
  if (isFinal(record.phase)) {
    return refuse("illegal_transition", `allocation ${record.id} is already ${record.phase.kind}`);
  }
  const problems = checkChange(step, record, change);
  if (problems.length > 0) return refuseFields(problems);
  const spec = changedSpec(record.spec, change, step.at);
  const vcluster = present(step.state.vcluster(spec.vcluster), `vCluster ${spec.vcluster} is gone`);
  const tenant = present(step.state.tenant(spec.tenant), `tenant ${spec.tenant} is gone`);
  // Limits lowered since the submission bind only what this command changes.
  const refusal =
    (change.walltime === undefined ? null : againstVCluster(spec, vcluster)) ??
    (change.preemptionClass === undefined ? null : againstClass(spec, tenant));
  return refusal === null ? null : rejected(refusal);
}

/** "preemptionClass" reads "preemption class". */
const inWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A running service whose programs have changed, or how it is asked whether they live: its nodes are replaced one after the other. */
function renewed(changed: Allocation, before: Allocation): Allocation {
  const programs = ({ spec: { task, environment, probe } }: Allocation): string =>
    canonical({ task, environment, probe: probe ?? null });
  const { phase, attempt } = before;
  if (!isPlaced(phase) || programs(changed) === programs(before)) return changed;
  return { ...changed, renewal: { through: attempt, size: phase.nodes.length } };
}

function checkChange(step: Step, record: Allocation, change: Change): readonly FieldProblem[] {
  const problems = problemList();
  if (change.name !== undefined) checkName(problems, "name", change.name);
  if (change.tags !== undefined) checkTags(problems, "tags", change.tags);
  if (change.setTags !== undefined) checkTags(problems, "set_tags", changedTags(record.spec.tags, change));
  if (change.preemptionClass !== undefined) checkPreemptionClass(problems, "preemption_class", change.preemptionClass);
  const mode = change.telemetry?.mode ?? "prod";
  problems.unless(TELEMETRY_MODES.includes(mode), "telemetry_mode", `must be one of ${TELEMETRY_MODES.join(", ")}`);
  const lasts = change.telemetry?.lasts ?? null;
  problems.unless(
    lasts === null || isCount(lasts, 1, MAX_TELEMETRY_MS),
    "telemetry_seconds",
    "must be at most 30 days",
  );
  if (change.service !== undefined) {
    const { lifecycle } = record.spec;
    problems.unless(isService(lifecycle), "service", "only of a service, which has no walltime");
    const scales = change.service.scale === undefined || lifecycle.kind === "reactive";
    problems.unless(scales, "service.scale_policy", "only of a reactive service");
    if (problems.list.length === 0) problems.list.push(...checkSpec(changedSpec(record.spec, change, step.at)));
  }
  if (change.walltime === undefined) return problems.list;
  const bounded = record.spec.lifecycle.kind === "bounded";
  problems.unless(bounded, "walltime_seconds", "unbounded work has no walltime");
  checkWalltime(problems, "walltime_seconds", change.walltime);
  const startedAt = "startedAt" in record.phase ? record.phase.startedAt : null;
  const used = startedAt === null ? 0 : step.at - startedAt;
  problems.unless(change.walltime > used, "walltime_seconds", `must be more than the ${used / 1000} s already used`);
  return problems.list;
}

export function changedSpec(written: AllocationSpec, change: Change, at: Instant): AllocationSpec {
  const { telemetry = null, probe: asked, ...spec } = written;
  const { walltime, preemptionClass } = spec.lifecycle;
  const measured = change.telemetry === undefined ? telemetry : telemetryFrom(change.telemetry, at);
  const { task = spec.task, environment = spec.environment, scale, probe = asked } = change.service ?? {};
  const least = scale === undefined ? {} : { minNodes: scale.minNodes, maxNodes: scale.minNodes };
  return {
    ...spec,
    ...(measured === null ? null : { telemetry: measured }),
    ...(probe === null || probe === undefined ? null : { probe }),
    task,
    environment,
    resources: { ...spec.resources, ...least },
    name: change.name ?? spec.name,
    tags: changedTags(spec.tags, change),
    lifecycle: {
      ...spec.lifecycle,
      walltime: change.walltime ?? walltime,
      preemptionClass: change.preemptionClass ?? preemptionClass,
      ...(scale === undefined ? {} : { scale }),
    },
  };
}

function changedTags(now: AllocationSpec["tags"], { tags, removeTags, setTags }: Change): AllocationSpec["tags"] {
  if (removeTags === undefined && setTags === undefined) return tags ?? now;
  const kept = Object.entries(tags ?? now).filter(([name]) => removeTags?.includes(name) !== true);
  return { ...Object.fromEntries(kept), ...setTags };
}

/** Null: as production work is, which is said by saying nothing. */
function telemetryFrom({ mode, lasts }: NonNullable<Change["telemetry"]>, at: Instant): Telemetry | null {
  if (mode === "prod") return null;
  return { mode, until: lasts === null ? null : instant(at + lasts) };
}

function repeatOrders(step: Step, record: Allocation): void {
  const { phase } = record;
  if (!isPlaced(phase)) return;
  phase.nodes.forEach((node, i) => {
    if (hasEnded(phase.progress[i])) return;
    step.effects.push({ kind: "run", node, allocation: record.id, attempt: attemptAt(record, phase, i) });
  });
}
