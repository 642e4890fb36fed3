// The columns of the history. Wide adds who, where and when.

import type { AccountingRecord } from "@lattice/sdk";
import { type Paint, paintState } from "../../output/paint.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, capitalise } from "../../output/text.ts";
import { hoursMinutesSeconds, localTime, shortTime } from "../../output/time.ts";

export function historyColumns(paint: Paint, wide: boolean): readonly Column<AccountingRecord>[] {
  const narrow: Column<AccountingRecord>[] = [
    { header: "ID", value: ({ allocation_id }) => allocation_id },
    { header: "NAME", value: ({ name }) => name ?? "", flexible: true },
    {
      header: "STATE",
      value: ({ state }) => capitalise(state),
      paint: (text, { state }) => paintState(paint, state, text),
    },
    { header: "EXIT", value: ({ exit_code }) => String(exit_code ?? ABSENT), align: "right", optional: true },
    { header: "NODES", value: ({ nodes }) => String(nodes ?? 0), align: "right" },
    { header: "ELAPSED", value: ({ elapsed_seconds }) => hoursMinutesSeconds(elapsed_seconds ?? 0) },
    {
      ...{ header: "NODE-HOURS", shortHeader: "NODE-H" },
      value: ({ node_hours }) => hours(node_hours),
      align: "right",
    },
    { ...{ header: "GPU-HOURS", shortHeader: "GPU-H" }, value: ({ gpu_hours }) => hours(gpu_hours), align: "right" },
    { header: "ENDED", value: ({ ended_at }) => localTime(ended_at), short: ({ ended_at }) => shortTime(ended_at) },
  ];
  if (!wide) return narrow;
  return [
    ...narrow,
    { header: "USER", value: ({ user }) => user ?? "" },
    { header: "TENANT", value: ({ tenant }) => tenant ?? "" },
    { header: "PROJECT", value: ({ project }) => project || ABSENT },
    { header: "VCLUSTER", value: ({ vcluster }) => vcluster ?? "" },
    { header: "WAITED", value: ({ waited_seconds }) => hoursMinutesSeconds(waited_seconds ?? 0) },
    { header: "ATTEMPTS", value: ({ attempts }) => String(attempts ?? 0), align: "right" },
    {
      header: "WALLTIME USED",
      value: ({ walltime_used }) => (walltime_used === undefined ? ABSENT : `${Math.round(walltime_used * 100)} %`),
      align: "right",
    },
    { header: "REASON", value: ({ reason }) => reason || ABSENT, flexible: true },
  ];
}

const hours = (value = 0): string => (value === 0 ? "0" : value < 0.01 ? "<0.01" : value.toFixed(2));
