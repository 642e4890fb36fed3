// Reads or follows one log of one node while its agent may disconnect. If the attempt is still running, the log is
// requested again and bytes that were already sent are skipped by offset. If the allocation runs elsewhere, a follower
// moves to the next attempt; if it has ended, the log is requested again for a while before the stream fails.

import { type AllocationId, type Attempt, attemptOn, isPlaced, type NodeId } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { LogsQuery } from "../../nodes/output/query.ts";
import type { Call } from "../call/call.ts";
import { LOG_RETRY_MS, LOG_TRIES_AFTER_END } from "../limits/limits.ts";
import { pause } from "../streams/pause.ts";

export interface LogSource {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly node: NodeId;
  readonly stream: "stdout" | "stderr";
}

export async function* readThrough(
  call: Call,
  source: LogSource & Pick<LogsQuery, "tail" | "offset" | "sinceMs" | "untilMs" | "follow">,
): AsyncGenerator<{ readonly data: Uint8Array; readonly offset: number }> {
  let tail = source.tail;
  let passed = source.offset;
  let triesLeft = 0;
  while (!call.signal.aborted) {
    try {
      for await (const chunk of call.plane.logs({ ...source, tail, offset: passed }, call.signal)) {
        const data = unseen(chunk, passed);
        if (data.length === 0) continue;
        passed = chunk.offset;
        tail = 0;
        triesLeft = LOG_TRIES_AFTER_END;
        yield { data, offset: chunk.offset };
      }
      return;
    } catch (error) {
      if (call.signal.aborted) return;
      if (error instanceof ProblemError && error.problem.code !== "node_unreachable") throw error;
      const state = source.follow ? attemptState(call, source) : "ended";
      if (state === "moved") return;
      if (state === "ended" && triesLeft === 0)
        throw error instanceof ProblemError ? error : interrupted(source, error);
      triesLeft = Math.max(0, triesLeft - 1);
      await pause(LOG_RETRY_MS, call.signal);
    }
  }
}

const interrupted = (source: LogSource, cause: unknown): ProblemError =>
  new ProblemError("node_unreachable", { detail: `The output from node ${source.node} was interrupted.`, cause });

/** The part of a chunk that lies after `passed`; an offset is the position after the chunk. */
function unseen(chunk: { readonly data: Uint8Array; readonly offset: number }, passed: number): Uint8Array {
  const start = chunk.offset - chunk.data.length;
  return start >= passed ? chunk.data : chunk.data.subarray(Math.min(passed - start, chunk.data.length));
}

function attemptState(call: Call, source: LogSource): "here" | "moved" | "ended" {
  const record = call.plane.view().allocation(source.allocation);
  if (record === undefined) return "ended";
  if (attemptOn(record, source.node) !== source.attempt) return "moved";
  if (isPlaced(record.phase)) return "here";
  return record.phase.kind === "pending" ? "moved" : "ended";
}
