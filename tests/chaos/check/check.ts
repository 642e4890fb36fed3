// The verdict on a history: violations as sentences by rule. Pure: it sees only what was recorded, so that tests can
// construct histories for each rule.
import type { History } from "../history.ts";
import { type Folded, foldLog } from "./fold.ts";
import { checkLoad } from "./minimums.ts";
import { checkProcesses } from "./processes.ts";
import { checkStates } from "./states.ts";
import { checkSubmissions } from "./submissions.ts";

export type Rule =
  | "lost" // an acknowledged submission is not there, or is there twice
  | "twice" // an attempt ran more than once, or without being placed
  | "owner" // two jobs on one node at once
  | "quota" // more nodes than a tenant may have
  | "chain" // the log has a gap, a break or a step back
  | "state" // servers disagree with each other, or with the log
  | "outcome" // a job did not end as it had to, or never ran
  | "left" // something was not over when everything was over
  | "expectation" // a fault did not go as it should
  | "load"; // too little happened

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly counts: Folded["counts"];
}

export function check(history: History): Verdict {
  const folded = foldLog(history.log, { at: indexesOf(history), quotas: history.limits.quotas });
  const violations = [
    ...folded.broken.map((detail): Violation => ({ rule: "chain", detail })),
    ...checkSubmissions(history, folded),
    ...checkProcesses(history, folded),
    ...checkStates(history, folded),
    ...history.faults.flatMap(({ name, complaints }) =>
      complaints.map((detail): Violation => ({ rule: "expectation", detail: `${name}: ${detail}` })),
    ),
    ...checkLoad(history),
  ];
  return { violations, counts: folded.counts };
}

const indexesOf = ({ polls, end }: History): ReadonlySet<number> =>
  new Set([...polls, ...end.servers].map(({ index }) => index));
