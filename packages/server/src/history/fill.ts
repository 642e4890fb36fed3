// Closes the gap of a history: what entries archived while this server was away, or before it was a
// member, is fetched from the others, the leader first. Each batch is durable before the next is
// asked for, and the gap begins behind it from then on, so that a crash loses nothing of the work. A
// server that has gaps itself gives what it has, once; the gap stays open until one is found that
// has everything.

import { type Duration, duration, type LogIndex, logIndex } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../clock.ts";
import type { History } from "./index.ts";
import type { StoredRecord } from "./messages.ts";
import type { HistoryGap } from "./wholeness.ts";

/** Between two rounds of asking everybody. */
const FIRST_WAIT = duration(500);
const LONGEST_WAIT = duration(60_000);
/** A server that says nothing for so long is left for the next. */
const SILENCE = duration(20_000);

export interface HistoryPage {
  /** In the first page: the source has no gap in what was asked for. */
  readonly whole: boolean;
  readonly records: readonly StoredRecord[];
}

/** Another server that is there at this moment. */
export interface HistorySource {
  readonly id: string;
  /** Of its present life. */
  readonly token: string;
  read(after: LogIndex, through: LogIndex, signal: AbortSignal): AsyncIterable<HistoryPage>;
}

export interface HistoryFill {
  /** Resolves when there is no gap, or it was closed before that. */
  readonly done: Promise<void>;
  close(): Promise<void>;
}

interface Options {
  readonly history: History;
  /** Whom to ask, in this order. */
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
  logger.info(gap, "the history lacks what was archived while this server was away; asking the others");
  /** Those with gaps of their own that have given what they have. */
  const partial = new Set<string>();
  let wait: Duration = FIRST_WAIT;
  while (!stop.aborted) {
    for (const source of sources()) {
      const open = history.gap();
      if (open === null || stop.aborted) break;
      await ask(options, source, open, partial, stop);
    }
    if (history.gap() === null) {
      logger.info({ through: history.through() }, "the history is whole");
      return;
    }
    await sleep(clock, wait, stop);
    wait = duration(Math.min(wait * 2, LONGEST_WAIT));
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
    logger.info({ from, whole, records }, whole ? "history fetched" : "another server's history has gaps as well");
  } catch (error) {
    if (!stop.aborted) logger.warn({ err: error, from }, "history could not be fetched; trying again");
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
    // More of the last entry's records may be in the next page.
    await history.fill(page.records, whole ? logIndex(Math.max(0, last.index - 1)) : null);
    heard();
  }
  return { whole: whole ?? false, records };
}

/** A signal that aborts with `stop`, or when nothing is heard for too long. */
function watch(clock: Clock, stop: AbortSignal) {
  const silent = new AbortController();
  const late = () => silent.abort(new Error("the other server says nothing"));
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
