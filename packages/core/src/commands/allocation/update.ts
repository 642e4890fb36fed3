// allocation.update: changes name, tags, class, walltime and telemetry after submission. A new walltime of a placed
// allocation reaches its nodes as a repeated run order, which starts nothing twice and carries the new end.

import { canonical } from "../../base/canonical.ts";
import type { AllocationId, Duration } from "../../base/ids.ts";
import { type Instant, instant } from "../../base/ids.ts";
import { present } from "../../base/invariant.ts";
import type { FieldProblem, Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, rejected, unchanged } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { hasEnded } from "../../model/allocation/attempt-end.ts";
import { newAllocation } from "../../model/allocation/new-allocation.ts";
import { attemptAt } from "../../model/allocation/node-attempts.ts";
import { isFinal, isPlaced } from "../../model/allocation/phase.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import { isCount, problemList } from "../../model/checks.ts";
import type { TaskGroup } from "../../model/group/group.ts";
import { hasGroupEnded } from "../../model/group/group.ts";
import type { Origin } from "../../model/origin.ts";
import { checkName, checkPreemptionClass, checkSpec, checkTags, checkWalltime } from "../../model/spec/check.ts";
import type { Environment, LivenessProbe, ScalePolicy, Task, TelemetryMode } from "../../model/spec/spec.ts";
import { type AllocationSpec, isService, TELEMETRY_MODES, type Telemetry } from "../../model/spec/spec.ts";
import { classRefusal, vclusterRefusal } from "../../queries/admission.ts";
import { activeElements } from "../../transitions/group/active-elements.ts";
import { renewalBegins } from "../../transitions/scaling/renewal.ts";
import type { Step } from "../../transitions/step.ts";

export interface UpdateAllocationCommand {
  readonly kind: "allocation.update";
  readonly origin: Origin;
  readonly id: AllocationId;
  /** Only what is present changes. */
  readonly change: {
    readonly walltime?: Duration;
    readonly preemptionClass?: number;
    readonly name?: string;
    readonly tags?: Readonly<Record<string, string>>;
    /** Tags to remove, then tags to add. */
    readonly removeTags?: readonly string[];
    readonly setTags?: Readonly<Record<string, string>>;
    readonly telemetry?: { readonly mode: TelemetryMode; readonly lasts: Duration | null };
    /** For a service: the new program of its nodes, which are replaced one after the other. */
    readonly service?: ServiceChange;
  };
}

export interface ServiceChange {
  readonly task?: Task;
  readonly environment?: Environment;
  readonly scale?: ScalePolicy;
  /** `null` removes the probe. */
  readonly probe?: LivenessProbe | null;
}

type Change = UpdateAllocationCommand["change"];

/** The longest temporary telemetry mode; a permanent one has no end. */
const MAX_TELEMETRY_MS = 30 * 86_400_000;

/** Updates a task group with its active elements, or one allocation. */
export function updateWork(step: Step, command: UpdateAllocationCommand): Outcome {
  const group = step.state.group(command.id);
  return group === undefined ? updateAllocation(step, command) : updateGroup(step, group, command);
}

function updateAllocation(step: Step, command: UpdateAllocationCommand): Outcome {
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
    message: "",
  });
  if (spec.lifecycle.walltime !== record.spec.lifecycle.walltime) repeatOrders(step, record);
  return accepted(record.id);
}

/** Returns `null` when the change is acceptable. */
function whyNotUpdated(step: Step, record: Allocation, change: Change): Outcome | null {
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
    (change.walltime === undefined ? null : vclusterRefusal(spec, vcluster)) ??
    (change.preemptionClass === undefined ? null : classRefusal(spec, tenant));
  return refusal === null ? null : rejected(refusal);
}

/** Converts "preemptionClass" to "preemption class". */
const inWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Starts the replacement of the nodes of a running service whose program or probe changed. */
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

function changedSpec(written: AllocationSpec, change: Change, at: Instant): AllocationSpec {
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

/** Returns `undefined` fields for the production mode, which is the default. */
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

function updateGroup(step: Step, group: TaskGroup, command: UpdateAllocationCommand): Outcome {
  const { id, phase, spec, user, submittedAt } = group;
  if (hasGroupEnded(phase)) return refuse("illegal_transition", `task group ${id} is already ${phase.kind}`);
  const { change } = command;
  const elements = activeElements(step.state, group);
  for (const record of [newAllocation({ id, user, spec, submittedAt }, step), ...elements]) {
    const bar = whyNotUpdated(step, record, change);
    if (bar !== null) return bar;
  }
  const outcomes = elements.map((element) => updateAllocation(step, { ...command, id: element.id }));
  const changed = changedSpec(spec, change, step.at);
  const same = canonical(changed) === canonical(spec);
  if (same && outcomes.every((outcome) => outcome.kind === "accepted" && outcome.repeated === true))
    return unchanged(id);
  const now = step.state.group(id) ?? group;
  step.state.putGroup({ ...now, spec: changed });
  return accepted(id);
}
