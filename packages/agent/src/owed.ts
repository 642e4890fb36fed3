// What should be on disk and is not, because the disk would not take it: the newest of each kind
// for each attempt, told again after a pause until it is written. It is bounded by the attempts
// the node holds. What is lost with the agent meanwhile the servers say again, or are told as lost.

import { type After, systemAfter } from "./after.ts";
import type { Effect } from "./lifecycle/attempt.ts";

export type RecordEffect = Extract<Effect, { readonly kind: "remember_order" | "remember_stop" | "remember_end" }>;

export const isRecord = (effect: Effect): effect is RecordEffect =>
  effect.kind === "remember_order" || effect.kind === "remember_stop" || effect.kind === "remember_end";

export interface Owed {
  /** Replaces an older one of its kind. Answers whether that kind was owed for the attempt before. */
  add(key: string, effect: RecordEffect): boolean;
  pending(key: string): readonly RecordEffect[];
  /** One of this kind is on disk. */
  written(key: string, kind: RecordEffect["kind"]): void;
  /** Nothing of this attempt needs to be written any more. */
  drop(key: string): void;
  close(): void;
}

/** A full disk rarely empties sooner. */
export const WRITE_AGAIN_AFTER_MS = 5_000;

interface Debt {
  readonly effects: Map<RecordEffect["kind"], RecordEffect>;
  /** Null: told again, and either written or added again before long. */
  cancel: (() => void) | null;
}

export function owed(again: (key: string) => void, after: After = systemAfter): Owed {
  const debts = new Map<string, Debt>();

  function wait(key: string, debt: Debt): void {
    debt.cancel ??= after(WRITE_AGAIN_AFTER_MS, () => {
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
