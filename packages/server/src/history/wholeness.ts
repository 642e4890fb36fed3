// How far a history is whole, as a value that moves: entries that are applied one after the other
// extend it, and a state that began from a snapshot beyond it leaves a gap. Where the gap's records
// come from is not its concern.

export interface HistoryGap {
  /** Records archived by entries after this one ... */
  readonly after: number;
  /** ... up to and including this one may be missing. */
  readonly through: number;
}

export interface Wholeness {
  /** The state holds everything up to this entry; only what comes later passes by here. Once. */
  begin(at: number): void;
  /** The records of all entries up to this one have been handed over. */
  applied(index: number): void;
  /** The gap is closed up to here. */
  filled(through: number): void;
  /** Everything up to here has been handed over. */
  through(): number;
  gap(): HistoryGap | null;
}

/** `kept`: what the mark says; null: whole as far as anybody can tell. */
export function createWholeness(kept: number | null): Wholeness {
  let begun = false;
  /** Null until it is known where the state begins. */
  let last: number | null = kept;
  let gap: HistoryGap | null = null;

  return {
    begin(at) {
      if (begun) return;
      begun = true;
      if (last === null || last >= at) last = Math.max(last ?? 0, at);
      else {
        gap = { after: last, through: at };
        last = at;
      }
    },
    applied(index) {
      last = Math.max(last ?? 0, index);
    },
    filled(through) {
      if (gap === null || through <= gap.after) return;
      gap = through >= gap.through ? null : { after: through, through: gap.through };
    },
    through: () => gap?.after ?? last ?? 0,
    gap: () => gap,
  };
}
