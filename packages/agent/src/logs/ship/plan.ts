// Decides the next step for a log that is sent to a store: send a chunk, free old sent output, drop output beyond the
// buffer. Much more may wait for a slow store than for an unavailable one. Pure: sizes and times are arguments.

export interface StreamState {
  /** The file is empty below this offset. */
  readonly start: number;
  /** Sent up to here, or dropped. */
  readonly shipped: number;
  /** Number of the next chunk. */
  readonly chunk: number;
  readonly flushedAtMs: number;
  readonly dropped: number;
}

export interface ShipLimits {
  /** Newest output that stays on the node, for live tails. */
  readonly ringBytes: number;
  /** Limit of unsent output; beyond it the oldest is dropped. */
  readonly bufferBytes: number;
  /** Factor on `bufferBytes` while the store takes output. */
  readonly whileSent: number;
  readonly chunkBytes: number;
  readonly flushMs: number;
}

export const SHIP_LIMITS: ShipLimits = {
  ringBytes: 64 * 1024 ** 2,
  bufferBytes: 256 * 1024 ** 2,
  whileSent: 16,
  chunkBytes: 4 * 1024 ** 2,
  flushMs: 10_000,
};

interface LogSize {
  readonly size: number;
  /** More may be written. */
  readonly live: boolean;
  readonly nowMs: number;
}

/** Returns the next chunk to send, or null. The pause between small chunks grows with their number. */
export function nextChunk(
  state: StreamState,
  { size, live, nowMs }: LogSize,
  limits: ShipLimits,
): { readonly start: number; readonly end: number } | null {
  const { shipped, flushedAtMs, chunk } = state;
  const waiting = size - shipped;
  if (waiting <= 0) return null;
  if (waiting >= limits.chunkBytes) return { start: shipped, end: shipped + limits.chunkBytes };
  const pause = limits.flushMs * (1 + chunk / CHUNKS_PER_PAUSE);
  return !live || nowMs - flushedAtMs >= pause ? { start: shipped, end: size } : null;
}

const CHUNKS_PER_PAUSE = 200;

interface LogFile {
  readonly size: number;
  /** Bytes on disk: less than its size when it has holes. */
  readonly diskBytes: number;
  /** The store takes what it is sent. */
  readonly taken: boolean;
}

/** A job can give its log any size without writing. File systems that compress logs stay far below this factor. */
const SPARSE_FACTOR = 64;

const isSparse = (unsent: number, diskBytes: number, { ringBytes }: ShipLimits): boolean =>
  unsent > ringBytes + SPARSE_FACTOR * diskBytes;

/** Returns where the file may begin after a check, and how much unsent output that drops. Holes are not output. */
export function trimmed(state: StreamState, { size, diskBytes, taken }: LogFile, limits: ShipLimits): StreamState {
  const mayWait = isSparse(size - state.shipped, diskBytes, limits)
    ? limits.ringBytes
    : limits.bufferBytes * (taken ? limits.whileSent : 1);
  const unsentFrom = Math.max(state.shipped, size - mayWait);
  const dropped = unsentFrom - state.shipped;
  const keepFrom = Math.min(unsentFrom, Math.max(0, size - limits.ringBytes));
  const start = Math.max(state.start, dropped > 0 ? unsentFrom : keepFrom);
  if (dropped === 0 && start === state.start) return state;
  return { ...state, start, shipped: unsentFrom, dropped: state.dropped + dropped };
}

/** Files are freed by whole blocks. */
const BLOCK_BYTES = 4096;

export const freeable = (from: number, to: number): { readonly offset: number; readonly length: number } | null => {
  const offset = Math.floor(from / BLOCK_BYTES) * BLOCK_BYTES;
  const end = Math.floor(to / BLOCK_BYTES) * BLOCK_BYTES;
  return end > offset ? { offset, length: end - offset } : null;
};
