// The checkpoints under way on this node: requests one from the program of an attempt, watches its progress, enforces
// the deadline, and reports the result. An attempt has at most one at a time. A repeated order changes only what
// happens afterwards; a finished checkpoint is reported again.

import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import { type CheckpointPatience, deferBy, judge, patienceFrom, seenAlive } from "./patience.ts";
import type {
  Answer,
  CheckpointProgressEvent,
  CheckpointTarget,
  NodeCheckpointResult,
  PendingCheckpoint,
  ProgramCheckpoint,
} from "./types.ts";

export interface CheckpointHost {
  readonly log: Logger;
  readonly after: After;
  readonly now: () => number;
  /** Returns null when the attempt does not run here or takes no checkpoints. */
  target(key: string): Promise<CheckpointTarget | null>;
  progress(key: string, progress: CheckpointProgressEvent): void;
  over(key: string, result: NodeCheckpointResult): void;
}

interface NodeCheckpoints {
  ask(key: string, wanted: ProgramCheckpoint): void;
  /** The attempt is ending or has ended: its checkpoint is abandoned. */
  end(key: string): void;
  close(): void;
}

/** Often at first: a small program finishes immediately. */
const LOOK_MS = 20;
const LOOK_LATER_MS = 100;
const SOON_MS = 2_000;
/** Shortest interval between two progress reports. */
const TELL_EVERY_MS = 1_000;

interface Taking {
  wanted: ProgramCheckpoint;
  patience: CheckpointPatience;
  progress: CheckpointProgressEvent;
  reportedAt: number;
  asked: PendingCheckpoint | null;
  cancel: () => void;
}

export function nodeCheckpoints(host: CheckpointHost): NodeCheckpoints {
  const { log, now } = host;
  const taking = new Map<string, Taking>();

  async function begin(key: string, wanted: ProgramCheckpoint): Promise<void> {
    const target = await host.target(key);
    const { number } = wanted;
    if (target === null) return finish(key, failed(number, "it takes no checkpoints on this node"));
    const before = await target.word();
    if (before?.number === number) return finish(key, before);
    const one = taking.get(key);
    if (one === undefined) return;
    const startedAt = now();
    const heard = (answer: Answer): void => {
      if (taking.get(key) !== one) return;
      take(key, one, target, answer).catch((error: Error) => finish(key, failed(number, error.message)));
    };
    one.asked = await target.ask(wanted, heard);
    const look = async (): Promise<void> => {
      await one.asked?.look();
      if (taking.get(key) !== one) return;
      const verdict = judge(one.patience, one.wanted, now());
      if (verdict.kind === "give_up") return heard({ kind: "failed", message: verdict.message });
      one.patience = verdict.patience;
      const pause = now() - startedAt < SOON_MS ? LOOK_MS : LOOK_LATER_MS;
      one.cancel = host.after(pause, () => void look().catch((error: Error) => heard(failure(error))));
    };
    await look();
  }

  async function take(key: string, one: Taking, target: CheckpointTarget, answer: Answer): Promise<void> {
    const { number } = one.wanted;
    switch (answer.kind) {
      case "progress":
      case "defer":
        return note(key, one, answer);
      case "done":
      case "failed": {
        const result: NodeCheckpointResult =
          answer.kind === "done"
            ? { number, ok: true, bytes: answer.bytes ?? 0, message: "" }
            : failed(number, answer.message);
        stopAsking(key);
        await target
          .keep(result)
          .catch((error: Error) =>
            log.error({ attempt: key, error: error.message }, "checkpoint result cannot be recorded"),
          );
        const kept = await target.word();
        return host.over(key, kept?.number === number ? kept : result);
      }
    }
  }

  function note(key: string, one: Taking, answer: Extract<Answer, { kind: "progress" | "defer" }>): void {
    withProgress(one, answer);
    if (now() - one.reportedAt < TELL_EVERY_MS) return;
    one.reportedAt = now();
    host.progress(key, one.progress);
  }

  function stopAsking(key: string): void {
    const one = taking.get(key);
    taking.delete(key);
    one?.cancel();
    one?.asked?.close();
  }

  function finish(key: string, result: NodeCheckpointResult): void {
    stopAsking(key);
    host.over(key, result);
  }

  return {
    ask(key, wanted) {
      const known = taking.get(key);
      if (known?.wanted.number === wanted.number) {
        known.wanted = wanted;
        return;
      }
      stopAsking(key);
      const { number } = wanted;
      taking.set(key, {
        wanted,
        patience: patienceFrom(wanted, now()),
        progress: { number, percent: null, estimatedSeconds: null, deferredMs: 0 },
        reportedAt: 0,
        asked: null,
        cancel: () => undefined,
      });
      log.info({ attempt: key, checkpoint: number }, "asking for a checkpoint");
      void begin(key, wanted).catch((error: Error) => finish(key, failed(number, error.message)));
    },
    end: stopAsking,
    close() {
      for (const key of [...taking.keys()]) stopAsking(key);
    },
  };
}

/** A deferral moves the deadline; progress counts as a sign of life. */
function withProgress(one: Taking, answer: Extract<Answer, { kind: "progress" | "defer" }>): void {
  if (answer.kind === "defer") one.patience = deferBy(one.patience, answer.ms, one.wanted);
  else one.patience = seenAlive(one.patience);
  const { percent = one.progress.percent, estimatedSeconds = one.progress.estimatedSeconds } =
    answer.kind === "progress" ? answer : {};
  one.progress = { ...one.progress, percent, estimatedSeconds, deferredMs: one.patience.deferredMs };
}

const failed = (number: number, message: string): NodeCheckpointResult => ({ number, ok: false, bytes: 0, message });
const failure = (error: Error): Answer => ({ kind: "failed", message: error.message });
