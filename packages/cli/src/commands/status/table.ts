// The columns of the status table. Wide output adds owner, place, reason and times.

import type { Allocation } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, capitalise } from "../../output/text.ts";
import { hoursMinutesSeconds, localTime, secondsBetween } from "../../output/time.ts";
import { groupText } from "./group.ts";

export function statusColumns(paint: Paint, wide: boolean, now: number): readonly Column<Allocation>[] {
  const narrow: Column<Allocation>[] = [
    { header: "ID", value: ({ id }) => id },
    { header: "NAME", value: ({ spec }) => spec?.name ?? "", flexible: true },
    {
      header: "STATE",
      value: ({ state }) => capitalise(state),
      paint: (text, { state }) => paintState(paint, state, text),
    },
    { header: "NODES", value: nodeCount },
    { header: "WALLTIME", value: walltime },
    { header: "ELAPSED", value: (allocation) => elapsed(allocation, now) },
    { header: "AGE", value: (allocation) => age(allocation, now), align: "right" },
    { header: "VCLUSTER", value: ({ spec }) => spec?.vcluster ?? "" },
  ];
  if (!wide) return [...narrow, { header: "REASON", value: shortReason, flexible: true }];
  return [
    ...narrow,
    { header: "TENANT", value: ({ spec }) => spec?.tenant ?? "" },
    { header: "PROJECT", value: ({ spec }) => spec?.project || ABSENT },
    { header: "USER", value: ({ user }) => user ?? "" },
    {
      header: "UENV",
      value: ({ spec }) => spec?.environment?.uenv || spec?.environment?.image || ABSENT,
      flexible: true,
    },
    { header: "GPU TYPE", value: ({ spec }) => spec?.resources?.constraints?.gpu_type || ABSENT },
    { header: "GROUPS", value: ({ topology_groups }) => (topology_groups ?? []).join(",") || ABSENT },
    { header: "CLASS", value: ({ spec }) => String(spec?.lifecycle?.preemption_class ?? ABSENT) },
    { header: "SUBMITTED", value: ({ submitted_at }) => localTime(submitted_at) },
    { header: "NODELIST", value: ({ nodes }) => (nodes ?? []).join(",") || ABSENT, flexible: true },
    { header: "REASON", value: reasonOf, flexible: true },
  ];
}

/** Returns the allocated or requested nodes: "4", "2-8" for a range before the start, "1×20" for a task group. */
export function nodeCount({ nodes, spec, group }: Allocation): string {
  if (group !== undefined) return `${requestedNodes(spec)}×${group.size ?? 0}`;
  if (nodes !== undefined && nodes.length > 0) return String(nodes.length);
  return requestedNodes(spec);
}

function requestedNodes(spec: Allocation["spec"]): string {
  const count = spec?.resources?.nodes;
  if (count === undefined) return "1";
  if (typeof count === "number") return String(count);
  const min = count.min ?? 1;
  const max = count.max ?? min;
  return min === max ? String(min) : `${min}-${max}`;
}

export function walltime({ spec }: Allocation): string {
  const seconds = spec?.lifecycle?.walltime_seconds;
  return seconds === undefined || seconds === 0 ? ABSENT : hoursMinutesSeconds(seconds);
}

export function elapsed({ started_at, ended_at }: Allocation, now: number): string {
  return started_at === undefined ? ABSENT : hoursMinutesSeconds(secondsBetween(started_at, ended_at, now));
}

/** Returns the time since its submission: "45s", "12m", "5h", "3d". */
function age({ submitted_at }: Allocation, now: number): string {
  const seconds = submitted_at === undefined ? null : secondsBetween(submitted_at, undefined, now);
  if (seconds === null) return ABSENT;
  const [, size, letter] = AGES.find(([below]) => seconds < below) ?? LONGEST;
  return `${Math.floor(seconds / size)}${letter}`;
}

const LONGEST = [Number.POSITIVE_INFINITY, 86_400, "d"] as const;
const AGES = [[90, 1, "s"], [5_400, 60, "m"], [129_600, 3_600, "h"], LONGEST] as const;

/** Returns why it waits, or how it failed. */
function shortReason(allocation: Allocation): string {
  const { state, exit_code, reason } = allocation;
  if (state === "failed" && reason === "exit_code" && exit_code !== undefined) return `exit code ${exit_code}`;
  return state === "completed" ? ABSENT : reasonOf(allocation);
}

export function reasonOf({ state, reason, message, pending_reasons, group }: Allocation): string {
  if (group !== undefined && state === "running") return groupText(group);
  if (state === "pending") return pending_reasons?.[0] || reason || ABSENT;
  return [reason, message].filter((part) => part !== undefined && part !== "").join(": ") || ABSENT;
}
