// Tracks up to which entry a history is complete: applied entries extend it, and a state that started from a later
// snapshot leaves a gap. It does not know where the missing records come from.

export interface HistoryGap {
  /** Records archived by entries after this one ... */
  readonly after: number;
  /** ... up to and including this one may be missing. */
  readonly through: number;
}

interface Coverage {
  /** The state contains everything up to this entry; only later entries pass through here. Called once. */
  begin(at: number): void;
  /** The records of all entries up to this one have been appended. */
  applied(index: number): void;
  /** The gap is closed up to here. */
  filled(through: number): void;
  /** Returns the entry up to which everything has been appended. */
  through(): number;
  gap(): HistoryGap | null;
}

/** `recorded` is the recorded progress; `null` for a history that counts as complete. */
export function createCoverage(recorded: number | null): Coverage {
  let hasStarted = false;
  /** `null` until the start of the state is known. */
  let last: number | null = recorded;
  let gap: HistoryGap | null = null;

  return {
    begin(at) {
      if (hasStarted) return;
      hasStarted = true;
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
