// Counts repeated refusals of a user. The first refusal of an action on a subject is written at once; its repetitions
// within a minute are one further record with their number. A user who goes through many subjects fills one count for
// all of them. A crash loses the numbers of the current minute at most, never the first refusal.

interface Refused {
  readonly user: string;
  /** For example an allocation. */
  readonly subject: string;
  /** For example an RPC. */
  readonly action: string;
}

type Write = (detail: string) => void;

interface Window {
  count: number;
  last: Write;
}

interface UserWindow {
  /** Refusals that were written at once. */
  written: number;
  /** The others; a count of 0 leaves no record. */
  readonly rest: Window;
}

const WINDOW_MS = 60_000;
/** First refusals of one user within a minute that have a record of their own. */
const MAX_WRITTEN = 20;
/** Beyond this, users of whom nothing was refused recently are refused without a record of their own. */
const MAX_USERS = 1_000;

export class RefusalCounts {
  readonly #users = new Map<string, UserWindow>();
  readonly #repeated = new Map<string, Window>();

  /** `write` writes one record about this refusal. */
  refuse({ user, subject, action }: Refused, write: Write): void {
    const key = `${user} ${subject} ${action}`;
    const open = this.#repeated.get(key);
    if (open !== undefined) {
      addTo(open, write);
      return;
    }
    const of = this.#users.get(user) ?? this.#begin(user, write);
    if (of === null) return;
    if (of.written >= MAX_WRITTEN) {
      addTo(of.rest, write);
      return;
    }
    of.written += 1;
    write(action);
    const window: Window = { count: 0, last: write };
    this.#repeated.set(key, window);
    afterMinute(() => {
      this.#repeated.delete(key);
      if (window.count > 0) window.last(`${action}; ${window.count} more refusals within a minute`);
    });
  }

  #begin(user: string, write: Write): UserWindow | null {
    if (this.#users.size >= MAX_USERS) return null;
    const opened: UserWindow = { written: 0, rest: { count: 0, last: write } };
    this.#users.set(user, opened);
    afterMinute(() => {
      this.#users.delete(user);
      const { count, last } = opened.rest;
      if (count > 0) last(`${count} more refusals of the user within a minute, of other actions or other work`);
    });
    return opened;
  }
}

function addTo(window: Window, write: Write): void {
  window.count += 1;
  window.last = write;
}

function afterMinute(callback: () => void): void {
  setTimeout(callback, WINDOW_MS).unref();
}
