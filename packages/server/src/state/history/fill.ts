// Closes the gap of a history: records that were archived while this server was down, or before it was a member, are
// fetched from the other servers, the leader first. Each batch is durable before the next is requested, and the gap
// shrinks with it, so that a crash loses no work. A server with gaps of its own contributes what it has, once; the
// gap stays open until a complete source is found.

import { type Duration, duration, type LogIndex, logIndex } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../base/clock.ts";
import type { HistoryGap } from "./coverage.ts";
import type { History } from "./index.ts";
import type { StoredRecord } from "./messages.ts";

/** Pause between two rounds over all sources. */
const MIN_WAIT = duration(500);
const MAX_WAIT = duration(60_000);
/** A server that is silent for this long is skipped. */
const SILENCE = duration(20_000);

export interface HistoryPage {
  /** In the first page: the source has no gap in the requested range. */
  readonly whole: boolean;
  readonly records: readonly StoredRecord[];
}

/** Another connected server. */
export interface HistorySource {
  readonly id: string;
  /** Identifies its current process. */
  readonly token: string;
  read(after: LogIndex, through: LogIndex, signal: AbortSignal): AsyncIterable<HistoryPage>;
}

interface HistoryFill {
  /** Resolves when there is no gap, or it was closed before that. */
  readonly done: Promise<void>;
  close(): Promise<void>;
}

interface Options {
  readonly history: History;
  /** The sources, in order. */
  readonly sources: () => readonly HistorySource[];
  readonly clock: Clock;
  readonly logger: Logger;
}

export function startHistoryFill(options: Options): HistoryFill {
  const stop = new AbortController();
  const done = run(options, stop.signal);
  return {
    done,
    async close() {
      stop.abort();
      await done;
    },
  };
}

async function run(options: Options, stop: AbortSignal): Promise<void> {
  const { history, sources, clock, logger } = options;
  const gap = history.gap();
  if (gap === null) return;
  logger.info(gap, "history has a gap from while this server was down; fetching it from other servers");
  /** Incomplete sources that have contributed what they have. */
  const partial = new Set<string>();
  let wait: Duration = MIN_WAIT;
  while (!stop.aborted) {
    for (const source of sources()) {
      const open = history.gap();
      if (open === null || stop.aborted) break;
      await ask(options, source, open, partial, stop);
    }
    if (history.gap() === null) {
      logger.info({ through: history.through() }, "history is complete");
      return;
    }
    await sleep(clock, wait, stop);
    wait = duration(Math.min(wait * 2, MAX_WAIT));
  }
}

async function ask(
  { history, clock, logger }: Options,
  source: HistorySource,
  gap: HistoryGap,
  partial: Set<string>,
  stop: AbortSignal,
): Promise<void> {
  const from = source.id;
  const attention = watch(clock, stop);
  try {
    const pages = source.read(logIndex(gap.after), logIndex(gap.through), attention.signal);
    const { whole, records } = await take(history, pages, attention.heard, () => partial.has(source.token));
    if (whole) await history.fill([], logIndex(gap.through));
    else partial.add(source.token);
    logger.info(
      { from, whole, records },
      whole ? "history fetched" : "history fetched from a server with gaps of its own",
    );
  } catch (error) {
    if (!stop.aborted) logger.warn({ err: error, from }, "history not fetched; retrying");
  } finally {
    attention.close();
  }
}

async function take(
  history: History,
  pages: AsyncIterable<HistoryPage>,
  heard: () => void,
  hasGiven: () => boolean,
): Promise<{ readonly whole: boolean; readonly records: number }> {
  let whole: boolean | null = null;
  let records = 0;
  for await (const page of pages) {
    heard();
    whole ??= page.whole;
    if (!whole && hasGiven()) break;
    const last = page.records.at(-1);
    if (last === undefined) continue;
    records += page.records.length;
    // The next page may have more records of the last entry.
    await history.fill(page.records, whole ? logIndex(Math.max(0, last.index - 1)) : null);
    heard();
  }
  return { whole: whole ?? false, records };
}

/** Returns a signal that aborts with `stop`, or after too long a silence. */
function watch(clock: Clock, stop: AbortSignal) {
  const silent = new AbortController();
  const late = () => silent.abort(new Error("the other server did not answer"));
  let cancel = clock.after(SILENCE, late);
  return {
    signal: AbortSignal.any([stop, silent.signal]),
    heard() {
      cancel();
      cancel = clock.after(SILENCE, late);
    },
    close: () => cancel(),
  };
}
