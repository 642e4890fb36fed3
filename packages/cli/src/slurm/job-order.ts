// Sorts jobs for `squeue -S`. Rarely used, so it is loaded on demand.

import type { Fields } from "./format.ts";
import { limitSeconds } from "./job-fields.ts";
import { JOB_STATES, jobState } from "./job-state.ts";
import type { SlurmJob } from "./jobs.ts";
import { slurmError } from "./slurm-error.ts";

const number = (id: string): number => Number(id.replace(/_.*/, ""));

/** Sorts by the letters of -S; a leading `-` sorts descending. */
export function sortJobs(jobs: readonly SlurmJob[], letters: string, fields: Fields<SlurmJob>): readonly SlurmJob[] {
  const keys = letters.split(",").map((key) => key.trim());
  const compare = (a: SlurmJob, b: SlurmJob): number => {
    for (const key of keys) {
      const sign = key.startsWith("-") ? -1 : 1;
      const difference = compareBy(fields, key.replace(/^[+-]/, ""), a, b);
      if (difference !== 0) return sign * difference;
    }
    return number(a.id) - number(b.id) || a.id.localeCompare(b.id, "en", { numeric: true });
  };
  return jobs.toSorted(compare);
}

function compareBy(fields: Fields<SlurmJob>, key: string, a: SlurmJob, b: SlurmJob): number {
  const text = (of: (job: SlurmJob) => string): number => of(a).localeCompare(of(b), "en", { numeric: true });
  if (key === "i") return number(a.id) - number(b.id) || text(({ id }) => id);
  if (key === "t" || key === "T") return rank(a) - rank(b);
  if (key === "M") return started(b) - started(a);
  if (key === "l") return (limitSeconds(a) ?? Infinity) - (limitSeconds(b) ?? Infinity) || 0;
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field === undefined) throw slurmError("squeue", `Invalid sort specification: ${key}`);
  return text(field.value);
}

/** The earliest start has the longest run time. */
const started = ({ allocation: { started_at } }: SlurmJob): number =>
  started_at === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(started_at);

const rank = ({ allocation }: SlurmJob): number => JOB_STATES.indexOf(jobState(allocation));
