// One output stream from a node, with its newest part buffered for all followers. The source is read only when a
// follower has consumed the buffer, so the fastest follower sets the pace; a follower that falls behind the buffer is
// notified and reads the missing part itself.

import type { LogPiece } from "./archive.ts";

/** Buffer limit; a slower follower reads from the node. */
const HELD_BYTES = 1024 * 1024;
const HELD_PIECES = 4_096;

type Next =
  | { readonly kind: "piece"; readonly piece: LogPiece }
  /** The buffer starts after the position. */
  | { readonly kind: "behind"; readonly position: number; readonly heldFrom: number }
  | { readonly kind: "ended" };

export interface Feed {
  /**
   * Returns the first piece that ends after `position`, or the very first; waits for it. Rejects when the source
   * failed.
   */
  next(position: number | null, signal: AbortSignal): Promise<Next>;
  join(): void;
  /** The last follower to leave ends the source. */
  leave(): void;
}

interface FeedSource {
  readonly pieces: AsyncIterable<LogPiece>;
  /** Start of the source; `null` until its first piece. */
  readonly from: number | null;
  /** Called once, when the source ends or has no followers. */
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
  /** Start of the source and of the buffer. */
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

  /** Usually the last piece, so the search starts from the end. */
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
      // It may be in a wait that only its own end interrupts; `closed` has been called for that.
      source.return?.().catch(() => undefined);
    },
  };
}

const startOf = ({ data, offset }: LogPiece): number => offset - data.length;
