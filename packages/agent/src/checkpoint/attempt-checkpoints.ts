// The checkpoints of a node's attempts: which attempts take them, the newest result, and whether the storage can be
// written. Orders and reports use the messages of the wire.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { within } from "../base/after.ts";
import { type CheckpointHost, nodeCheckpoints } from "./checkpoints.ts";
import { storageProbe } from "./storage-probe.ts";
import type { CheckpointProgressEvent, CheckpointTarget, NodeCheckpointResult } from "./types.ts";

interface AttemptCheckpointsHost extends Pick<CheckpointHost, "log" | "after" | "now" | "over"> {
  readonly nodeId: string;
  /** Root folder of output and checkpoints; empty when the node has none. */
  readonly folder: string;
  /** `undefined` when the runtime takes no checkpoints. */
  readonly target: ((key: string) => Promise<CheckpointTarget | null>) | undefined;
  sendProgress(progress: pb.CheckpointProgress): void;
  notice(key: string, text: string): void;
}

export interface AttemptCheckpoints {
  /** The attempt is on this node. */
  add(key: string, order: pb.RunOrder): void;
  drop(key: string): void;
  order(key: string, order: pb.CheckpointOrder): void;
  /** The attempt is ending or has ended. */
  end(key: string): void;
  /** Returns the newest finished checkpoint, for the last report. */
  lastResult(key: string): Promise<NodeCheckpointResult | null>;
  storageError(): string;
  close(): void;
}

/** Storage that hangs must not delay the report of an end. */
const LAST_RESULT_MS = 5_000;

export function attemptCheckpoints(host: AttemptCheckpointsHost): AttemptCheckpoints {
  const keys = new Set<string>();
  const find = async (key: string): Promise<CheckpointTarget | null> =>
    keys.has(key) ? ((await host.target?.(key)) ?? null) : null;
  const checkpoints = nodeCheckpoints({
    ...host,
    target: find,
    progress(key, progress) {
      host.sendProgress(progressMessage(key, progress));
      if (progress.percent !== null) host.notice(key, `Checkpoint ${progress.number}: ${progress.percent} %.`);
    },
    over(key, result) {
      const outcome = result.ok ? "is complete" : `failed: ${result.message}`;
      host.notice(key, `Checkpoint ${result.number} ${outcome}.`);
      host.over(key, result);
    },
  });
  const { folder, nodeId, after } = host;
  const probe = storageProbe({ folder, nodeId, after, needed: () => keys.size > 0 });
  return {
    add(key, order) {
      if (order.checkpoint !== undefined) keys.add(key);
    },
    drop: (key) => keys.delete(key),
    order(key, { number, stopAfter, timeoutSeconds, maxDeferralSeconds, message, prune, keep }) {
      if (stopAfter)
        host.notice(key, `The allocation is about to be suspended (${message}): taking checkpoint ${number}.`);
      const [timeoutMs, maxDeferralMs] = [timeoutSeconds * 1000, maxDeferralSeconds * 1000];
      checkpoints.ask(key, {
        number,
        thenStop: stopAfter,
        timeoutMs,
        maxDeferralMs,
        ...(prune ? { kept: keep } : {}),
      });
    },
    end: checkpoints.end,
    async lastResult(key) {
      // The end of an attempt is reported, whatever its user left behind.
      let result: NodeCheckpointResult | null = null;
      let problem = `no answer within ${LAST_RESULT_MS / 1000} s`;
      const read = async (): Promise<void> => {
        result = (await (await find(key))?.word()) ?? null;
        problem = "";
      };
      await within(
        after,
        LAST_RESULT_MS,
        read().catch((error: Error) => {
          problem = error.message;
        }),
      );
      if (problem !== "") host.log.warn({ attempt: key, error: problem }, "checkpoint result cannot be read");
      return result;
    },
    storageError: probe.error,
    close() {
      probe.close();
      checkpoints.close();
    },
  };
}

function progressMessage(key: string, progress: CheckpointProgressEvent): pb.CheckpointProgress {
  const [allocationId = "", attempt] = key.split(".");
  const { number, percent, estimatedSeconds, deferredMs } = progress;
  return create(pb.CheckpointProgressSchema, {
    allocationId,
    attempt: Number(attempt),
    number,
    ...(percent === null ? {} : { percent }),
    ...(estimatedSeconds === null ? {} : { estimatedSeconds }),
    deferredSeconds: Math.ceil(deferredMs / 1000),
  });
}
