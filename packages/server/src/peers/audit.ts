// Sends archived records of the audit log to a server that has a gap. Every server serves them, leader or not.

import { create } from "@bufbuild/protobuf";
import type { ServerWritableStream } from "@grpc/grpc-js";
import type { AuditRecord } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { AuditArchive } from "../state/audit/archive.ts";

export type AuditCall = ServerWritableStream<pb.ReadAuditRequest, pb.ReadAuditResponse>;

const RECORDS_PER_MESSAGE = 500;

export async function sendAudit(archive: AuditArchive, call: AuditCall, gone: AbortSignal): Promise<void> {
  const first = numberOf("first", call.request.first);
  const through = numberOf("through", call.request.through);
  const head = { whole: archive.gap(through) === null, floor: String(archive.floor()) };
  let waiting: AuditRecord[] = [];
  const send = async () => {
    const records = waiting.map((record) => JSON.stringify(record));
    waiting = [];
    if (!call.write(create(pb.ReadAuditResponseSchema, { ...head, records }))) await drained(call, gone);
  };
  await send();
  for await (const record of archive.read({ newestFirst: false, after: first - 1 })) {
    if (gone.aborted || record.n > through) break;
    waiting.push(record);
    if (waiting.length === RECORDS_PER_MESSAGE) await send();
  }
  if (waiting.length > 0 && !gone.aborted) await send();
}

function drained(call: AuditCall, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    call.once("drain", resolve);
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
}

function numberOf(field: string, text: string): number {
  const n = Number(text);
  if (text !== "" && Number.isSafeInteger(n) && n > 0) return n;
  throw new ProblemError("invalid_argument", { fields: [{ field, detail: "must be the number of a record" }] });
}
