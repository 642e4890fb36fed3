// Output on a node: it grows, ends, and is read from any position. Counts concurrent readers.

import type { LogPiece } from "../../../src/nodes/output/archive.ts";
import type { LogsQuery } from "../../../src/nodes/output/query.ts";

export class LogOnANode {
  #bytes = Buffer.alloc(0);
  #ended = false;
  #broken: Error | null = null;
  #changed: (() => void)[] = [];
  /** Streams that are open now; how many followed at most; how many there were. */
  open = 0;
  followed = 0;
  mostFollowed = 0;
  streams = 0;

  readonly #chunkBytes: number;

  constructor(chunkBytes = 7) {
    this.#chunkBytes = chunkBytes;
  }

  write(text: string): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(text)]);
    this.#wake();
  }
  end(): void {
    this.#ended = true;
    this.#wake();
  }
  /** Breaks every open stream. */
  break(error: Error): void {
    this.#broken = error;
    this.#wake();
    this.#broken = null;
  }
  text(): string {
    return this.#bytes.toString();
  }

  async *read(query: LogsQuery, signal: AbortSignal): AsyncGenerator<LogPiece> {
    this.open += 1;
    this.streams += 1;
    if (query.follow) this.followed += 1;
    this.mostFollowed = Math.max(this.mostFollowed, this.followed);
    try {
      let offset = Math.max(query.offset, query.tail > 0 ? this.#tail(query.tail) : 0);
      while (!signal.aborted) {
        while (offset < this.#bytes.length && !signal.aborted) {
          const data = this.#bytes.subarray(offset, offset + this.#chunkBytes);
          offset += data.length;
          yield { data, offset };
        }
        if (!query.follow || this.#ended) return;
        const broken = await this.#grown(signal);
        if (broken !== null) throw broken;
      }
    } finally {
      this.open -= 1;
      if (query.follow) this.followed -= 1;
    }
  }

  #tail(lines: number): number {
    const text = this.#bytes.toString();
    const kept = text.split("\n").slice(-lines - 1);
    return this.#bytes.length - Buffer.byteLength(kept.join("\n"));
  }

  #grown(signal: AbortSignal): Promise<Error | null> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener("abort", go);
        resolve(this.#broken);
      };
      this.#changed.push(go);
      signal.addEventListener("abort", go, { once: true });
    });
  }

  #wake(): void {
    const all = this.#changed;
    this.#changed = [];
    for (const go of all) go();
  }
}
