// The forms of a submission that REST accepts beyond the messages of the contract. The server checks them.

import type { AllocationSpec } from "../gen/types.ts";

/** The full form `{ allocation: {...} }` or the short, flat one. */
export type Submission = { readonly allocation: AllocationSpec } | Readonly<Record<string, unknown>>;

/** Members under `allocations`, each in any form of a submission. */
export type DagSubmission = Readonly<Record<string, unknown>>;

/** Telemetry in the form of a submission, as an alternative to `telemetry_mode` and `telemetry_seconds`. */
export interface TelemetryForm {
  readonly telemetry?: { readonly mode: string; readonly duration?: string };
}
