// Problems that several handlers use.

import type { FieldProblem } from "@lattice/core";
import { ProblemError } from "@lattice/wire";

export function invalid(field: string, detail: string, hint?: string): ProblemError {
  const named: FieldProblem = hint === undefined ? { field, detail } : { field, detail, hint };
  return new ProblemError("invalid_argument", {
    detail: `${field}: ${detail}`,
    fields: [named],
    ...(hint === undefined ? {} : { hint }),
  });
}

export const unknownAllocation = (id: string): ProblemError =>
  new ProblemError("unknown_allocation", { detail: `There is no allocation ${shown(id)}.` });
export const unknownDag = (id: string): ProblemError =>
  new ProblemError("unknown_dag", { detail: `There is no DAG ${shown(id)}.` });
export const unknownNode = (id: string): ProblemError =>
  new ProblemError("unknown_node", { detail: `There is no node ${shown(id)}.` });
export const unknownTenant = (id: string): ProblemError =>
  new ProblemError("unknown_tenant", { detail: `There is no tenant ${shown(id)}.` });
export const unknownVCluster = (id: string): ProblemError =>
  new ProblemError("unknown_vcluster", { detail: `There is no vCluster ${shown(id)}.` });

/** Quotes and truncates ids of callers, so that control characters are visible. */
const shown = (id: string): string => JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);

/** Checks free text of users, such as reasons. */
export function checkText(field: string, text: string, longest: number): void {
  if (text.length > longest) throw invalid(field, `is ${text.length} characters long; at most ${longest}`);
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) throw invalid(field, "contains control characters");
}
