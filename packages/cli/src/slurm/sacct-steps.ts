// The steps in the lines of sacct. A batch job that has started has the step `batch`, with the resources that its nodes
// have measured; steps of srun are not recorded. Columns of the job only are empty on the line of a step.

import type { Allocation } from "@lattice/sdk";
import type { AccountField, AccountingContext } from "./sacct-fields.ts";

interface AccountRow {
  readonly job: Allocation;
  readonly step: "batch" | null;
}

interface RowSelection {
  /** As given, with steps: `3`, `3.batch`. */
  readonly ids: readonly string[] | undefined;
  readonly jobsOnly: boolean;
}

export function accountRows(jobs: readonly Allocation[], { ids, jobsOnly }: RowSelection): readonly AccountRow[] {
  const rows = jobs.flatMap((job): AccountRow[] => [
    { job, step: null },
    ...(jobsOnly || !hasBatchStep(job) ? [] : [{ job, step: "batch" as const }]),
  ]);
  const steps = (ids ?? []).filter((id) => id.includes("."));
  if (steps.length === 0) return rows;
  const whole = new Set((ids ?? []).filter((id) => !id.includes(".")));
  return rows.filter((row) => whole.has(row.job.id.split("_")[0] ?? "") || steps.includes(rowId(row)));
}

const hasBatchStep = ({ spec, started_at }: Allocation): boolean =>
  spec?.script !== undefined && spec.script !== "" && started_at !== undefined;

const rowId = ({ job, step }: AccountRow): string => (step === null ? job.id : `${job.id}.${step}`);

/** Empty on the line of a step. */
const OF_JOBS = new Set(
  `User Partition QOS QOSRAW QOSREQ Timelimit TimelimitRaw Priority UID GID Group Reason Comment Constraints Eligible
  Flags Planned PlannedCPU PlannedCPURAW Reserved ReqMem ReqNodes ReqTRES Restarts StdErr StdIn StdOut WorkDir`.split(
    /\s+/,
  ),
);

/** Empty on the line of a job. */
const OF_STEPS = new Set(
  `MaxRSS MaxRSSNode MaxRSSTask AveRSS AveCPU MinCPU MinCPUNode MinCPUTask MaxDiskRead MaxDiskReadNode MaxDiskReadTask
  AveDiskRead MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask AveDiskWrite NTasks Layout`.split(/\s+/),
);

export function cellOf(field: AccountField, row: AccountRow, context: AccountingContext): string {
  const { job, step } = row;
  if (field.name === "JobID" || field.name === "JobIDRaw") return rowId(row);
  if (step === null) return OF_STEPS.has(field.name) ? "" : field.value(job, context);
  if (field.name === "JobName") return step;
  // The script is one task on the first node.
  if (field.name === "NTasks") return "1";
  if (field.name === "State") return field.value(job, context).replace(/ by .*$/, "");
  return OF_JOBS.has(field.name) ? "" : field.value(job, context);
}
