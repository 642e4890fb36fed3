// One page of the audit log, with the key that checks its signatures.

import type { AuditRecord } from "@lattice/sdk";

export interface RecordPage {
  readonly records: readonly AuditRecord[];
  /** PEM. */
  readonly publicKey: string;
}
