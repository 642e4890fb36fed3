// The order that `squeue -S` asks for: few do, so it is loaded then.

import type { Fields } from "./format.ts";
import { limitSeconds } from "./job-fields.ts";
import { JOB_STATES, jobState } from "./job-state.ts";
import type { Job } from "./jobs.ts";
import { refuse } from "./refusal.ts";

const number = (id: string): number => Number(id.replace(/_.*/, ""));

/** By the letters of -S, each with - for downwards. */
export function sorted(jobs: readonly Job[], letters: string, fields: Fields<Job>): readonly Job[] {
  const keys = letters.split(",").map((key) => key.trim());
  const compare = (a: Job, b: Job): number => {
    for (const key of keys) {
      const sign = key.startsWith("-") ? -1 : 1;
      const difference = compareBy(fields, key.replace(/^[+-]/, ""), a, b);
      if (difference !== 0) return sign * difference;
    }
    return number(a.id) - number(b.id) || a.id.localeCompare(b.id, "en", { numeric: true });
  };
  return jobs.toSorted(compare);
}

function compareBy(fields: Fields<Job>, key: string, a: Job, b: Job): number {
  const text = (of: (job: Job) => string): number => of(a).localeCompare(of(b), "en", { numeric: true });
  if (key === "i") return number(a.id) - number(b.id) || text(({ id }) => id);
  if (key === "t" || key === "T") return rank(a) - rank(b);
  if (key === "M") return started(b) - started(a);
  if (key === "l") return (limitSeconds(a) ?? Infinity) - (limitSeconds(b) ?? Infinity) || 0;
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field === undefined) throw refuse("squeue", `Invalid sort specification: ${key}`);
  return text(field.value);
}

/** What began first has run longest. */
const started = ({ allocation: { started_at } }: Job): number =>
  started_at === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(started_at);

const rank = ({ allocation }: Job): number => JOB_STATES.indexOf(jobState(allocation));
