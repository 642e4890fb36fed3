// Keeps GPU memory of one user from the next. Zeroing a large GPU takes a second, so it happens shortly after a job
// has ended; a job that arrives sooner waits only when the memory belongs to another user. Sensitive work has not
// ended before its GPUs are zeroed.

import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { GpuUnit } from "../discovery/gpus/base/inventory.ts";
import { type Clear, isClearable } from "./clear.ts";
import { type GpuUser, mustClear } from "./decide.ts";
import type { GpuLedger } from "./gpu-owners.ts";

export interface GpusBetweenUsers {
  /**
   * Resolves when this user may use the GPUs. Rejects when another user's memory cannot be cleared, or by `signal`.
   */
  claim(units: readonly GpuUnit[], by: GpuUser, signal: AbortSignal): Promise<void>;
  /** The user no longer uses the GPUs. Rejects only for sensitive work. */
  release(units: readonly GpuUnit[], by: GpuUser): Promise<void>;
  close(): Promise<void>;
}

interface BetweenUsersOptions {
  readonly clear: Clear;
  readonly ledger: GpuLedger;
  readonly after: After;
  readonly log: Logger;
}

/** A user's next job, which needs no clearing, arrives within this time or not at all. */
const LINGER_MS = 1_000;

/** One clearing that waits or runs. Both methods resolve in every case. */
interface Clearing {
  /** The GPU is needed now. */
  finish(): Promise<void>;
  /** The clearing is no longer needed. Nothing of it is left afterwards. */
  cancel(): Promise<void>;
}

export function gpusBetweenUsers({ clear, ledger, after, log }: BetweenUsersOptions): GpusBetweenUsers {
  const pending = new Map<string, Clearing>();

  async function zero(unit: GpuUnit, signal: AbortSignal): Promise<void> {
    await clear(unit, signal);
    ledger.cleared(unit.uuid);
  }

  function plan(unit: GpuUnit): void {
    const abort = new AbortController();
    let work: Promise<void> | null = null;
    const begin = (): Promise<void> => {
      work ??= zero(unit, abort.signal)
        .catch((error: Error) => {
          if (!abort.signal.aborted) log.error({ gpu: unit.index, error: error.message }, "GPU memory not cleared");
        })
        .finally(() => pending.get(unit.uuid) === one && pending.delete(unit.uuid));
      return work;
    };
    const cancelTimer = after(LINGER_MS, () => void begin());
    const one: Clearing = {
      finish() {
        cancelTimer();
        return begin();
      },
      async cancel() {
        pending.delete(unit.uuid);
        cancelTimer();
        abort.abort();
        await work;
      },
    };
    pending.set(unit.uuid, one);
  }

  async function ready(unit: GpuUnit, by: GpuUser, signal: AbortSignal): Promise<void> {
    const under = pending.get(unit.uuid);
    // A clearing that runs takes all of the memory.
    if (!mustClear(ledger.last(unit.uuid), by)) return under?.cancel();
    if (under !== undefined) await Promise.race([under.finish(), fired(signal)]);
    if (mustClear(ledger.last(unit.uuid), by)) await zero(unit, signal);
  }

  return {
    async claim(units, by, signal) {
      const own = units.filter(isClearable);
      await all(own.map((unit) => ready(unit, by, signal)));
      ledger.used(
        own.map(({ uuid }) => uuid),
        by,
      );
    },
    async release(units, by) {
      const own = units.filter(isClearable);
      ledger.used(
        own.map(({ uuid }) => uuid),
        by,
      );
      if (!by.sensitive) for (const unit of own) plan(unit);
      else await all(own.map((unit) => zero(unit, NEVER)));
    },
    async close() {
      await Promise.all([...pending.values()].map((one) => one.cancel()));
    },
  };
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

const NEVER = new AbortController().signal;

/** Every GPU is tried; the errors are reported together. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const problems = (await Promise.allSettled(work)).flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (problems.length > 0) throw new Error(problems.map((reason) => (reason as Error).message).join("; "));
}
