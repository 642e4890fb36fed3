// Which audit records the leader signs next: the oldest without a signature, with the current key. Pure.

import { MAX_SIGNED_TOGETHER, type View } from "@lattice/core";

interface Unsigned {
  /** The id of the current key. */
  readonly key: string;
  readonly first: number;
  /** Hashes of consecutive records. */
  readonly hashes: readonly string[];
}

/** Returns `null` when every record is signed, or while the cluster has no key. */
export function decideSigning(
  view: Pick<View, "auditKey" | "auditRecord" | "signedAudit">,
  most = MAX_SIGNED_TOGETHER,
): Unsigned | null {
  const key = view.auditKey();
  if (key === null) return null;
  const first = view.signedAudit() + 1;
  const hashes: string[] = [];
  for (let record = view.auditRecord(first); record !== undefined; record = view.auditRecord(record.n + 1)) {
    hashes.push(record.hash);
    if (hashes.length === most) break;
  }
  return hashes.length === 0 ? null : { key: key.id, first, hashes };
}
