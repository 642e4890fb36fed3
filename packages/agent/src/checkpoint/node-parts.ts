// What a node does about checkpoints: which of its attempts take them, what came of the newest, and whether
// there is anywhere to write to. Orders and reports are in the words of the wire.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import type { Order } from "../lifecycle/attempt.ts";
import { type CheckpointHost, nodeCheckpoints } from "./checkpoints.ts";
import { storageProbe } from "./storage-probe.ts";
import type { Progress, Result, Target } from "./types.ts";

export interface SavingHost extends Pick<CheckpointHost, "log" | "after" | "now" | "over"> {
  readonly nodeId: string;
  /** Where output and checkpoints go; empty: nowhere. */
  readonly folder: string;
  /** Absent: nothing here takes checkpoints. */
  readonly target: ((key: string) => Promise<Target | null>) | undefined;
  tell(progress: pb.CheckpointProgress): void;
  notice(key: string, text: string): void;
}

export interface Saving {
  /** It is on this node. */
  add(key: string, order: Order): void;
  drop(key: string): void;
  order(key: string, order: pb.CheckpointOrder): void;
  /** The attempt is to end, or has. */
  end(key: string): void;
  /** For its last report: the newest that is over. */
  word(key: string): Promise<Result | null>;
  storageError(): string;
  close(): void;
}

export function savingOf(host: SavingHost): Saving {
  const keys = new Set<string>();
  const find = async (key: string): Promise<Target | null> =>
    keys.has(key) ? ((await host.target?.(key)) ?? null) : null;
  const checkpoints = nodeCheckpoints({
    ...host,
    target: find,
    progress(key, progress) {
      host.tell(progressMessage(key, progress));
      if (progress.percent !== null) host.notice(key, `Checkpoint ${progress.number}: ${progress.percent} %.`);
    },
    over(key, result) {
      const said = result.ok ? "is complete" : `failed: ${result.message}`;
      host.notice(key, `Checkpoint ${result.number} ${said}.`);
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
    order(key, { number, thenStop, timeoutSeconds, maxDeferralSeconds, message, tidy, kept }) {
      if (thenStop)
        host.notice(key, `The allocation is about to be suspended (${message}): taking checkpoint ${number}.`);
      const [timeoutMs, maxDeferralMs] = [timeoutSeconds * 1000, maxDeferralSeconds * 1000];
      checkpoints.ask(key, { number, thenStop, timeoutMs, maxDeferralMs, ...(tidy ? { kept } : {}) });
    },
    end: checkpoints.end,
    word: async (key) => (await find(key))?.word() ?? null,
    storageError: probe.error,
    close() {
      probe.close();
      checkpoints.close();
    },
  };
}

function progressMessage(key: string, progress: Progress): pb.CheckpointProgress {
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
