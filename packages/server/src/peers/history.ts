// Sends archived records to a server that has a gap in its history. Every server serves them, leader or not. The first
// message says whether this server has the whole range; its records follow in either case. A damaged record ends the
// stream with an error, so that a partial answer is not taken for a complete one.

import { create } from "@bufbuild/protobuf";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { type LogIndex, logIndex } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { History } from "../state/history/index.ts";

export type HistoryCall = ServerWritableStream<pb.ReadHistoryRequest, pb.ReadHistoryResponse>;

export async function sendHistory(history: History, call: HistoryCall, gone: AbortSignal): Promise<void> {
  const after = indexOf("after_index", call.request.afterIndex);
  const through = indexOf("through_index", call.request.throughIndex);
  // Pending writes are part of the range.
  await history.flush();
  const whole = history.through() >= through;
  await write(call, create(pb.ReadHistoryResponseSchema, { whole }), gone);
  for await (const page of history.range(after, through)) {
    if (gone.aborted) return;
    const records = page.map(({ index, json }) => create(pb.HistoryRecordSchema, { logIndex: String(index), json }));
    await write(call, create(pb.ReadHistoryResponseSchema, { records }), gone);
  }
}

/** Resolves when the stream can take more, so that a slow reader does not fill the memory. */
function write(call: HistoryCall, message: pb.ReadHistoryResponse, gone: AbortSignal): Promise<void> {
  if (gone.aborted || call.write(message)) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      call.off("drain", go);
      gone.removeEventListener("abort", go);
      resolve();
    };
    call.once("drain", go);
    gone.addEventListener("abort", go, { once: true });
  });
}

function indexOf(field: string, text: string): LogIndex {
  const index = Number(text);
  if (text !== "" && Number.isSafeInteger(index) && index >= 0) return logIndex(index);
  throw new ProblemError("invalid_argument", { fields: [{ field, detail: "must be the index of an entry" }] });
}
