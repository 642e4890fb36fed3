// The state hashes of recent entries, so that servers can compare their states at the same entry. Every server records the
// same entries: the first of each second of the log's own time, and the entry at which the log comes to rest. The cost is
// bounded: at most one hash a second under load, and none while much of the state would have to be hashed.

import { type Duration, duration, type LogIndex, recordsToHash, type State, stateHash } from "@lattice/core";
import type { Clock } from "../../base/clock.ts";
import { sha256 } from "./hash.ts";

/** The state hash right after an entry. */
export interface StateMark {
  readonly index: LogIndex;
  readonly hash: string;
}

/** Under load about a minute: a server further behind is compared once it has caught up. */
const KEPT = 64;
/** Records hashed at one entry: some milliseconds. */
const MAX_RECORDS = 512;
const PERIOD_MS = 1_000;
/** Without a new entry for this long, the log is at rest. */
const REST: Duration = duration(1_000);

export class HashSeries {
  readonly #state: State;
  readonly #clock: Clock;
  #marks: readonly StateMark[] = [];
  #cancel: (() => void) | null = null;

  constructor(state: State, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** Oldest first. */
  marks(): readonly StateMark[] {
    return this.#marks;
  }

  /** Called right after an entry was applied; `before` is the time of the entry before it. */
  applied(before: number): void {
    if (Math.floor(before / PERIOD_MS) !== Math.floor(this.#state.at / PERIOD_MS)) this.#record();
    this.waitForRest();
  }

  /** Called after a restore too: there may be no further entry. */
  waitForRest(): void {
    const { index } = this.#state;
    this.#cancel ??= this.#clock.after(REST, () => {
      this.#cancel = null;
      if (this.#state.index === index) this.#record();
      else this.waitForRest();
    });
  }

  close(): void {
    this.#cancel?.();
  }

  #record(): void {
    const { index } = this.#state;
    if (index === 0 || this.#marks.at(-1)?.index === index || recordsToHash(this.#state) > MAX_RECORDS) return;
    this.#marks = [...this.#marks, { index, hash: stateHash(this.#state, sha256) }].slice(-KEPT);
  }
}
