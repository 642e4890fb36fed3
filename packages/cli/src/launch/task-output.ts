// The output of tasks, unchanged or with the task's rank before every line. Labelled lines are written when they are
// complete, so that lines of different tasks do not mix.

export interface OutputChunk {
  readonly rank: number;
  readonly stream: "stdout" | "stderr";
  readonly data: Uint8Array;
}

export interface TaskOutput {
  write(piece: OutputChunk): Promise<void>;
  /** Writes the incomplete last lines. */
  end(): Promise<void>;
}

/** A longer line is written in parts. */
const MAX_LINE_BYTES = 64 * 1024;
const NEWLINE = 10;

export const plainOutput = (write: TaskOutput["write"]): TaskOutput => ({ write, end: async () => undefined });

/** `partial` holds lines that the native launcher left incomplete. */
export function labelledOutput(write: TaskOutput["write"], partial: readonly OutputChunk[] = []): TaskOutput {
  const rests = new Map<string, { readonly piece: OutputChunk; rest: Buffer }>();
  for (const piece of partial) rests.set(`${piece.rank}.${piece.stream}`, { piece, rest: Buffer.from(piece.data) });
  const emit = ({ rank, stream }: OutputChunk, line: Uint8Array): Promise<void> =>
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
