// Reconciles the index with the segments when the history opens: truncates a torn last line, indexes new records, and
// reports damage. Valid records stay readable even when others of their segment are damaged.

import { existsSync, statSync, truncateSync } from "node:fs";
import { parseAllocationId, present } from "@lattice/core";
import { closingOf, recordOf } from "./line.ts";
import type { RecordRow } from "./messages.ts";
import type { RecordIndex } from "./record-index.ts";
import { listSegments, scanLines, segmentPath } from "./segment-file.ts";
import type { OpenSegment, Written } from "./segment-writer.ts";

/** Rows per transaction while indexing. */
const BATCH = 2000;

/** Returns the segment to append to. */
export function recoverHistory(dir: string, index: RecordIndex, onWarning: (text: string) => void): OpenSegment {
  const known = new Set(index.closed().map((segment) => segment.number));
  const numbers = listSegments(dir);
  let open: OpenSegment = { number: 1, bytes: 0, records: 0 };
  for (const [n, number] of numbers.entries()) {
    if (known.has(number)) open = { number: number + 1, bytes: 0, records: 0 };
    else open = readIn(dir, number, n === numbers.length - 1, index, onWarning);
  }
  return open;
}

/** Returns why the index does not belong to these files (a segment was removed or replaced), or `null`. */
export function indexMismatch(dir: string, index: RecordIndex): string | null {
  for (const { number, bytes } of index.closed()) {
    const path = segmentPath(dir, number);
    if (!existsSync(path)) return `${path} is missing`;
    if (statSync(path).size !== bytes) return `${path} has another size`;
  }
  return null;
}

function readIn(
  dir: string,
  number: number,
  isLast: boolean,
  index: RecordIndex,
  onWarning: (text: string) => void,
): OpenSegment {
  const path = segmentPath(dir, number);
  let batch: Written[] = [];
  let records = 0;
  let goodEnd = 0;
  /** Invalid lines that no valid line has followed yet. */
  let doubtful: number[] = [];
  for (const line of scanLines(path, 0)) {
    if (line.head === null) {
      doubtful.push(line.offset);
      continue;
    }
    for (const offset of doubtful) onWarning(`${path}: the record at offset ${offset} does not match its checksum`);
    records += doubtful.length;
    doubtful = [];
    goodEnd = line.offset + line.bytes + 1;
    if (line.head.kind === "closing") {
      const closing = closingOf(line.head);
      index.add(batch, { number, bytes: goodEnd, records: closing.records, sha256: closing.sha256 });
      return { number: number + 1, bytes: 0, records: 0 };
    }
    records += 1;
    batch.push({ row: rowOfText(recordOf(line.head)), segment: number, offset: line.offset, bytes: line.bytes });
    if (batch.length < BATCH) continue;
    index.add(batch);
    batch = [];
  }
  index.add(batch);
  if (doubtful.length > 0 && isLast) {
    onWarning(`${path}: truncated an incomplete record at offset ${goodEnd}`);
    index.drop(number, goodEnd);
    truncateSync(path, goodEnd);
  }
  if (!isLast) onWarning(`${path}: its last line is missing`);
  return isLast ? { number, bytes: goodEnd, records } : { number: number + 1, bytes: 0, records: 0 };
}

/** Extracts the columns of the index from the record's text. */
export function rowOfText({ index, json }: { readonly index: number; readonly json: string }): RecordRow {
  const record = JSON.parse(json) as {
    readonly id: string;
    readonly user: string;
    readonly spec: { readonly tenant: string; readonly vcluster: string; readonly name: string };
    readonly submittedAt?: number;
    readonly phase: { readonly kind: string; readonly endedAt?: number };
  };
  const { user, phase, submittedAt: submitted = 0 } = record;
  const id = present(
    parseAllocationId(record.id) ?? undefined,
    `history record without an allocation id: ${record.id}`,
  );
  const { tenant, vcluster, name } = record.spec;
  return { index, id, user, tenant, vcluster, name, state: phase.kind, submitted, ended: phase.endedAt ?? 0, json };
}
