// A running service whose program was updated: its nodes are replaced one after the other. A failure of the new program
// counts against the update and not the service: that node is released, the renewal halts, and the nodes with the old
// program continue. It stays halted until the next update of the service.

import { present } from "../../base/invariant.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { attemptAt } from "../../model/allocation/node-attempts.ts";
import type { PlacedPhase } from "../../model/allocation/phase.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import type { AttemptReport } from "../../model/allocation/report.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { clearNotice, raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";
import { removeNode } from "./resize.ts";

type Renewed = Pick<Allocation, "renewal" | "attempt">;

/** Returns the number of nodes with the program from before the update. */
export function outdatedNodes(record: Renewed, phase: PlacedPhase): number {
  const { renewal } = record;
  if (renewal === undefined) return 0;
  return phase.nodes.filter((_, i) => attemptAt(record, phase, i) <= renewal.through).length;
}

/** The new program failed while old ones run: no node is replaced or added. */
export const isHalted = (record: Renewed, phase: PlacedPhase): boolean =>
  record.renewal?.halted !== undefined && outdatedNodes(record, phase) > 0;

/** Handles the end of one node with the new program. Returns false when the end must be handled as any other. */
export function haltRenewal(step: Step, record: Allocation, current: PlacedPhase, report: AttemptReport): boolean {
  const { renewal } = record;
  if (renewal === undefined || current.kind !== "running" || report.attempt <= renewal.through) return false;
  const oldProgramRuns = current.progress.some(
    ({ state }, i) => state === "running" && attemptAt(record, current, i) <= renewal.through,
  );
  if (!oldProgramRuns) return false;
  const why = howItEnded(report).slice(0, MAX_WHY);
  const detail = `the new program failed there (${why})`;
  removeNode(step, record, current, { node: report.node, reason: "renewal", detail });
  const left = present(step.state.allocation(record.id), `allocation ${record.id} is gone`);
  const text = `The update is halted: on ${report.node} the new program failed (${why}). The other nodes continue.`;
  const noted = withNote(left, { type: "failure", kind: "renewal_halted", text, nodes: [report.node] }, step);
  step.state.putAllocation({ ...noted, renewal: { ...renewal, halted: step.at } });
  raiseNotice(step, {
    key: haltedKey(record),
    kind: "renewal_halted",
    text: `the update of service ${record.id} is halted: the new program failed on ${report.node} (${why})`.slice(
      0,
      MAX_NOTICE_LENGTH,
    ),
    tenant: record.spec.tenant,
    user: record.user,
    allocation: record.id,
  });
  return true;
}

/** The message of a bad exit code names the code. */
function howItEnded({ state, reason, exitCode, message }: AttemptReport): string {
  const suffix = message === "" ? "" : `: ${message}`;
  if (state === "completed") return `it ended${suffix}`;
  if ((reason ?? "exit_code") === "exit_code") return message === "" ? `exit code ${exitCode ?? "unknown"}` : message;
  return `${(reason ?? "").replaceAll("_", " ")}${exitCode === null ? "" : `, exit code ${exitCode}`}${suffix}`;
}

/** Longest part of the program's message. */
const MAX_WHY = 256;

/** Starts over after another update. */
export function renewalBegins(step: Step, record: Allocation): void {
  clearNotice(step, haltedKey(record));
}

const haltedKey = ({ id }: Allocation): string => noticeKey("renewal_halted", id);
