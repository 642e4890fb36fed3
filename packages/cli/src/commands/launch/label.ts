// Output of tasks, as it is or with the number of its task before every line. With numbers, a line is
// written when it is whole, so that lines of different tasks do not mix.

export interface Piece {
  readonly rank: number;
  readonly stream: "stdout" | "stderr";
  readonly data: Uint8Array;
}

export interface Outlet {
  write(piece: Piece): Promise<void>;
  /** Writes what is left without a newline. */
  end(): Promise<void>;
}

/** A line longer than this is written in parts. */
const MAX_LINE_BYTES = 64 * 1024;
const NEWLINE = 10;

export const plain = (write: Outlet["write"]): Outlet => ({ write, end: async () => undefined });

/** `begun`: lines that were begun before. */
export function labelled(write: Outlet["write"], begun: readonly Piece[] = []): Outlet {
  const rests = new Map<string, { readonly piece: Piece; rest: Buffer }>();
  for (const piece of begun) rests.set(`${piece.rank}.${piece.stream}`, { piece, rest: Buffer.from(piece.data) });
  const emit = ({ rank, stream }: Piece, line: Uint8Array): Promise<void> =>
    write({ rank, stream, data: Buffer.concat([Buffer.from(`${rank}: `), line]) });
  return {
    async write(piece) {
      const key = `${piece.rank}.${piece.stream}`;
      const kept = rests.get(key) ?? { piece, rest: Buffer.alloc(0) };
      rests.set(key, kept);
      kept.rest = Buffer.concat([kept.rest, piece.data]);
      for (let at = kept.rest.indexOf(NEWLINE); at >= 0; at = kept.rest.indexOf(NEWLINE)) {
        const line = kept.rest.subarray(0, at + 1);
        kept.rest = kept.rest.subarray(at + 1);
        await emit(piece, line);
      }
      if (kept.rest.length < MAX_LINE_BYTES) return;
      await emit(piece, Buffer.concat([kept.rest, Buffer.from("\n")]));
      kept.rest = Buffer.alloc(0);
    },
    async end() {
      for (const { piece, rest } of rests.values())
        if (rest.length > 0) await emit(piece, Buffer.concat([rest, Buffer.from("\n")]));
      rests.clear();
    },
  };
}
