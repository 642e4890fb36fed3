// Finds the work that an id names: an allocation in the live state or in the history, a task group, or an element that
// has not been created. Handlers that need one allocation use `find`; handlers that can show either use `findWork`.

import {
  type Allocation,
  type AllocationId,
  type AllocationPhase,
  elementOf,
  type Hold,
  hasGroupEnded,
  heldIndexes,
  type IndexRange,
  isFinal,
  type LogIndex,
  logIndex,
  newAllocation,
  parseAllocationId,
  type TaskGroup,
  UNKNOWN_USER,
  type View,
  waitingIndexes,
  waitReasons,
} from "@lattice/core";
import { allocationToProto, type ElementsNow, groupToProto, type pb } from "@lattice/wire";
import { invalid, unknownAllocation } from "../../base/problems.ts";
import { reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";

export type Work = Allocation | TaskGroup;

export const isGroup = (work: Work): work is TaskGroup => !("attempt" in work);

/** Throws `unknown_allocation`. */
export async function findWork(call: Call, id: string): Promise<Work> {
  const parsed = parseAllocationId(id);
  if (parsed === null) throw unknownAllocation(id);
  const view = call.plane.view();
  const live = view.allocation(parsed) ?? view.group(parsed) ?? null;
  const found = live ?? (await call.plane.archived(parsed)) ?? uncreatedElement(view, parsed);
  if (found === null) throw unknownAllocation(id);
  return found;
}

/** In the live state, else in the archive; throws `unknown_allocation`. */
export async function find(call: Call, id: string): Promise<Allocation> {
  const work = await findWork(call, id);
  if (!isGroup(work)) return work;
  const first = `${work.id}_${work.range.start}`;
  throw invalid("id", `${work.id} is a task group`, `Name one of its elements, such as ${first}.`);
}

export const ownerOf = (work: Work): Target => ({ tenant: work.spec.tenant, user: work.user });

export const elementsNow = (view: View, group: AllocationId): ElementsNow => ({
  pending: view.pendingElements(group),
  resting: view.restingElements(group),
});

/** As a list shows it: with the known reasons. `index`: of the log when the list was read, or earlier. */
export function listed(call: Call, recorded: Work, index: LogIndex): pb.Allocation {
  const reasons = isWaiting(recorded) ? call.plane.knownReasons(recorded.id) : [];
  return toProto(call, recorded, { reasons, isWhole: false, index });
}

/** As a call for one allocation shows it: with current reasons, and all variables where the caller may change it. */
export async function shown(call: Call, recorded: Work): Promise<pb.Allocation> {
  // A watch continues after this index, so it must not be later than the record.
  const { index } = call.plane.view();
  const reasons = isWaiting(recorded) ? await call.plane.pendingReasons(recorded.id) : [];
  return toProto(call, recorded, { reasons, isWhole: true, index });
}

const isWaiting = (work: Work): boolean => !isGroup(work) && work.hold === undefined && work.phase.kind === "pending";

interface ShownParts {
  /** The reasons of the scheduler. */
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
  readonly isWhole: boolean;
  /** Of the log when the record was read, or earlier. */
  readonly index: LogIndex;
}

function toProto(call: Call, recorded: Work, { reasons: known, isWhole, index }: ShownParts): pb.Allocation {
  const view = call.plane.view();
  const maySeeAll = isWhole && reaches(call.principal, "AllocationService.Update", ownerOf(recorded));
  const work = maySeeAll ? recorded : withoutVariables(recorded);
  if (isGroup(work)) {
    const ownReasons = work.phase.kind === "pending" ? waitReasons(view, work) : [];
    return groupToProto(work, {
      ...elementsNow(view, work.id),
      ...(hasGroupEnded(work.phase)
        ? {}
        : { waitingIndexes: waitingIndexes(view, work), heldIndexes: held(view, work) }),
      ...namedReasons(ownReasons),
      logIndex: index,
    });
  }
  const waiting = work.phase.kind === "pending";
  // An element without a record is unknown to the scheduler.
  const reasons = work.hold !== undefined ? waitReasons(view, work) : known;
  return allocationToProto(work, {
    ...namedReasons(reasons),
    estimate: waiting ? call.plane.estimatedStart(work.id) : null,
    logIndex: index,
    topologyGroups: groupsOf(view, work),
  });
}

/** The variables that describe a request, and hold nothing of its submitter's shell. */
const DESCRIPTIVE = /^(SLURM_|LATTICE_SUBMIT_DIR$)/;

/**
 * Leaves out the variables of the submitting shell: they may hold secrets, which only users see who may
 * change the work, and would make lists large.
 */
function withoutVariables<W extends Work>(work: W): W {
  const { environment } = work.spec;
  const all = Object.entries(environment.variables);
  const kept = all.filter(([name]) => DESCRIPTIVE.test(name));
  if (kept.length === all.length) return work;
  const variables = Object.fromEntries(kept);
  return { ...work, spec: { ...work.spec, environment: { ...environment, variables } } };
}

const held = (view: View, group: TaskGroup) => ({
  user: heldIndexes(group, view.heldElements(group, "user")),
  admin: heldIndexes(group, view.heldElements(group, "admin")),
});

const NONE: readonly string[] = [];

const namedReasons = (reasons: readonly { readonly code: string; readonly text: string }[]) => ({
  pendingReasons: reasons.map(({ text }) => text),
  reasonCodes: reasons.map(({ code }) => code),
});

/** The topology groups of running work, without nodes that have left the cluster. */
function groupsOf(view: View, { phase }: Allocation): readonly string[] {
  if (!("nodes" in phase) || isFinal(phase)) return NONE;
  const groups = new Set(phase.nodes.flatMap((id) => view.node(id)?.group ?? []));
  return [...groups].sort((a, b) => (a < b ? -1 : 1));
}

/** Describes an element without a record from its group: it waits, or was cancelled before it was created. */
function uncreatedElement(view: View, id: AllocationId): Allocation | null {
  const element = elementOf(id);
  const group = element === null ? undefined : view.group(element.group);
  if (element === null || group === undefined) return null;
  const state = view.element(group, element.index);
  if (state !== "waiting" && state !== "cancelled") return null;
  return {
    ...newAllocation({ ...group, id }, { at: group.submittedAt, index: logIndex(0) }),
    phase: state === "waiting" ? pendingPhase(group) : cancelledPhase(view, group),
    element,
    ...(state === "waiting" ? holdOf(view, group, element.index) : {}),
  };
}

function holdOf(view: View, group: TaskGroup, index: number): { readonly hold?: Hold } {
  const as = view.elementHold(group, index);
  if (as === null) return group.hold === undefined ? {} : { hold: group.hold };
  return { hold: { as, by: as === "user" ? group.user : UNKNOWN_USER, since: group.submittedAt } };
}

const pendingPhase = (group: TaskGroup): AllocationPhase => ({
  kind: "pending",
  since: group.submittedAt,
  cause: "submitted",
});

const cancelledPhase = (view: View, group: TaskGroup): AllocationPhase => ({
  kind: "cancelled",
  by: group.cancelled?.by ?? group.user,
  reason: group.cancelled?.reason ?? "",
  nodes: [],
  startedAt: null,
  endedAt: "endedAt" in group.phase ? group.phase.endedAt : view.at,
  exitCode: null,
  message: group.cancelled?.message ?? "cancelled before it was created",
});

const SEVERAL = /^([1-9]\d{0,14})_\[([0-9,-]+)\]$/;
/** More than this in one id is a mistake. */
const MAX_RANGES = 1_000;

/** Parses "12_[3-9,20]"; `null` for any other id. */
export function severalElements(id: string): { readonly group: string; readonly elements: IndexRange[] } | null {
  const match = SEVERAL.exec(id);
  if (match === null) return null;
  const [, group = "", list = ""] = match;
  const parts = list.split(",");
  if (parts.length > MAX_RANGES) throw invalid("id", `names more than ${MAX_RANGES} ranges`);
  const elements = parts.map((part) => {
    const bounds = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    const from = Number(bounds?.[1]);
    const to = Number(bounds?.[2] ?? bounds?.[1]);
    if (bounds === null || from > to) throw invalid("id", `"${part}" is not a range of elements`, "Write 12_[3-9,20].");
    return { from, to };
  });
  return { group, elements };
}
