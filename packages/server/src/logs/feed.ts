// One log on its way from a node, and the newest part of it, held for all who follow it. More is asked of the source
// only when somebody has taken all there is, so the fastest follower sets the pace; one that falls behind what is held
// is told so, and reads the missing part by itself.

import type { LogPiece } from "./archive.ts";

/** Held at most; a follower that is further behind reads from the node. */
const HELD_BYTES = 1024 * 1024;
const HELD_PIECES = 4_096;

export type Next =
  | { readonly kind: "piece"; readonly piece: LogPiece }
  /** What is held begins after the position. */
  | { readonly kind: "behind"; readonly position: number; readonly heldFrom: number }
  | { readonly kind: "ended" };

export interface Feed {
  /** The first piece that ends after `position`, or the very first; waits for it. Rejects when the source failed. */
  next(position: number | null, signal: AbortSignal): Promise<Next>;
  join(): void;
  /** The last one to leave ends the source. */
  leave(): void;
}

export interface FeedSource {
  readonly pieces: AsyncIterable<LogPiece>;
  /** Where it begins; null: it will be seen from its first piece. */
  readonly from: number | null;
  /** Called once, when the source is over or nobody is left. */
  readonly closed: () => void;
}

type State =
  | { readonly kind: "open" }
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly error: unknown };

export function createFeed({ pieces, from, closed }: FeedSource): Feed {
  const source = pieces[Symbol.asyncIterator]();
  const held: LogPiece[] = [];
  let heldBytes = 0;
  /** Where it began, and where what is held begins. */
  let first = from;
  let start = from;
  let state: State = { kind: "open" };
  let pulling = false;
  let members = 0;
  const waiting = new Set<() => void>();

  function close(how: State): void {
    if (state.kind !== "open") return;
    state = how;
    closed();
    wake();
  }

  function wake(): void {
    const all = [...waiting];
    waiting.clear();
    for (const go of all) go();
  }

  function pull(): void {
    if (pulling || state.kind !== "open") return;
    pulling = true;
    source.next().then(
      (result) => {
        pulling = false;
        if (result.done === true) close({ kind: "ended" });
        else hold(result.value);
      },
      (error: unknown) => {
        pulling = false;
        close({ kind: "failed", error });
      },
    );
  }

  function hold(piece: LogPiece): void {
    first ??= startOf(piece);
    start ??= first;
    held.push(piece);
    heldBytes += piece.data.length;
    while (held.length > 1 && (heldBytes > HELD_BYTES || held.length > HELD_PIECES)) {
      const gone = held.shift();
      heldBytes -= gone?.data.length ?? 0;
      start = gone?.offset ?? start;
    }
    wake();
  }

  /** Nearly always the last one, so it is looked for from the end. */
  function after(position: number): LogPiece | undefined {
    let at = held.length;
    while (at > 0 && (held[at - 1]?.offset ?? 0) > position) at -= 1;
    return held[at];
  }

  function grown(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        waiting.delete(go);
        signal.removeEventListener("abort", go);
        resolve();
      };
      waiting.add(go);
      signal.addEventListener("abort", go, { once: true });
    });
  }

  return {
    async next(position, signal) {
      while (!signal.aborted) {
        const at = position ?? first;
        if (at !== null && start !== null && at < start) return { kind: "behind", position: at, heldFrom: start };
        const piece = at === null ? undefined : after(at);
        if (piece !== undefined) return { kind: "piece", piece };
        if (state.kind === "failed") throw state.error;
        if (state.kind === "ended") break;
        pull();
        await grown(signal);
      }
      return { kind: "ended" };
    },
    join() {
      members += 1;
    },
    leave() {
      members -= 1;
      if (members > 0) return;
      close({ kind: "ended" });
      // It may be in the middle of a wait that only its own end breaks off; that was told by `closed`.
      source.return?.().catch(() => undefined);
    },
  };
}

const startOf = ({ data, offset }: LogPiece): number => offset - data.length;
