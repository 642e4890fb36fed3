// Records that the disk would not take: the newest of each kind per attempt, retried until written. Bounded by the
// attempts on the node. If the agent ends meanwhile, the servers repeat their orders or report the attempt as lost.

import { type After, systemAfter } from "../base/after.ts";
import type { AttemptEffect } from "../lifecycle/attempt.ts";

type RecordEffect = Extract<AttemptEffect, { readonly kind: "remember_order" | "remember_stop" | "remember_end" }>;

export const isRecord = (effect: AttemptEffect): effect is RecordEffect =>
  effect.kind === "remember_order" || effect.kind === "remember_stop" || effect.kind === "remember_end";

export interface PendingWrites {
  /** Replaces an older record of its kind. Returns whether one of that kind was already pending. */
  add(key: string, effect: RecordEffect): boolean;
  pending(key: string): readonly RecordEffect[];
  /** A record of this kind is on disk. */
  written(key: string, kind: RecordEffect["kind"]): void;
  /** Drops the pending records of an attempt. */
  drop(key: string): void;
  close(): void;
}

/** A full disk rarely empties sooner. */
export const RETRY_AFTER_MS = 5_000;

interface Debt {
  readonly effects: Map<RecordEffect["kind"], RecordEffect>;
  /** `null` while a retry is under way. */
  cancel: (() => void) | null;
}

export function pendingWrites(again: (key: string) => void, after: After = systemAfter): PendingWrites {
  const debts = new Map<string, Debt>();

  function wait(key: string, debt: Debt): void {
    debt.cancel ??= after(RETRY_AFTER_MS, () => {
      debt.cancel = null;
      again(key);
    });
  }

  function drop(key: string): void {
    debts.get(key)?.cancel?.();
    debts.delete(key);
  }

  return {
    add(key, effect) {
      const debt: Debt = debts.get(key) ?? { effects: new Map(), cancel: null };
      const known = debt.effects.has(effect.kind);
      debt.effects.set(effect.kind, effect);
      debts.set(key, debt);
      wait(key, debt);
      return known;
    },
    pending: (key) => [...(debts.get(key)?.effects.values() ?? [])],
    written(key, kind) {
      const effects = debts.get(key)?.effects;
      effects?.delete(kind);
      if (effects?.size === 0) drop(key);
    },
    drop,
    close() {
      for (const key of [...debts.keys()]) drop(key);
    },
  };
}
