// The result of a verification: every check by name, in order, with its findings.

import type { BackupMetadata } from "./format/format.ts";

export const CHECKS = ["checksum", "metadata", "records", "state_hash", "history", "audit"] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Check {
  readonly name: CheckName;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Verification {
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** `null` when it could not be read. */
  readonly metadata: BackupMetadata | null;
  readonly sha256: string;
  readonly bytes: number;
}
