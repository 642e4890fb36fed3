// The outcome of a command: accepted, or rejected with a refusal as data. Every replica computes the same
// outcome; an exception means a bug. Outcomes are built here so that every refusal has the same shape.

import type { AllocationId } from "./ids.ts";

export interface FieldProblem {
  readonly field: string;
  readonly detail: string;
  readonly hint?: string;
}

export type RefusalCode =
  | "invalid_argument"
  | "unknown_allocation"
  | "unknown_node"
  | "unknown_tenant"
  | "unknown_vcluster"
  | "unknown_dag"
  | "unknown_domain"
  | "unknown_grant"
  | "unknown_enrolment"
  | "already_exists"
  | "illegal_transition"
  | "not_owner"
  | "forbidden"
  | "quota_exceeded"
  | "tenant_mismatch"
  | "stale_plan"
  | "node_unavailable"
  | "constraint_unmet"
  | "not_assigned"
  | "stale_report"
  | "request_conflict"
  | "cluster_not_empty";

export interface Refusal {
  readonly code: RefusalCode;
  /** One sentence with the figures. */
  readonly detail: string;
  /** The remedy. Default: the usual remedy of the code. */
  readonly hint?: string;
  readonly fields?: readonly FieldProblem[];
  /** Figures for programs: current, requested, limit. */
  readonly figures?: Readonly<Record<string, number>>;
}

export interface PlacementResult {
  readonly allocation: AllocationId;
  readonly refusal: Refusal | null;
}

export type Outcome =
  | {
      readonly kind: "accepted";
      /** The record the command made or touched, when there is one. */
      readonly id: string | null;
      /** For plan.commit: one result per placement, in order. */
      readonly placements?: readonly PlacementResult[];
      /** The command changed nothing because it had already been carried out. */
      readonly repeated?: boolean;
    }
  | { readonly kind: "rejected"; readonly refusal: Refusal };

export const accepted = (id: string | null): Outcome => ({ kind: "accepted", id });

/** Accepts a command that changes nothing. */
export const unchanged = (id: string | null): Outcome => ({ kind: "accepted", id, repeated: true });

export const rejected = (refusal: Refusal): Outcome => ({ kind: "rejected", refusal });

export const refuse = (code: RefusalCode, detail: string, figures?: Readonly<Record<string, number>>): Outcome =>
  rejected(figures === undefined ? { code, detail } : { code, detail, figures });

export function refuseFields(fields: readonly FieldProblem[]): Outcome {
  const detail = fields.map((problem) => `${problem.field}: ${problem.detail}`).join("; ");
  return rejected({ code: "invalid_argument", detail, fields });
}

/** Longest part of a user's text that a message repeats. */
const QUOTED_MAX = 80;

export const quote = (text: string): string =>
  JSON.stringify(text.length <= QUOTED_MAX ? text : `${text.slice(0, QUOTED_MAX)}...`);
