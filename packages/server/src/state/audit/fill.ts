// Fetches audit records from other servers that left the state while this one was down, or before it was a member. It
// checks periodically, because a replica that falls behind loads a snapshot and skips entries. A record that a
// complete server lacks has expired and is not requested again.

import { type AuditRecord, type Duration, duration, type View } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../base/clock.ts";
import type { AuditArchive, AuditGap } from "./archive.ts";

const MIN_WAIT = duration(500);
const MAX_WAIT = duration(60_000);
const ANSWER_WITHIN = duration(60_000);
const FORGET_EVERY = duration(6 * 3_600_000);

export interface AuditPage {
  /** The source has every record from `floor` on. */
  readonly whole: boolean;
  readonly floor: number;
  readonly records: readonly AuditRecord[];
}

export interface AuditSource {
  readonly id: string;
  readAudit(gap: AuditGap, signal: AbortSignal): AsyncIterable<AuditPage>;
}

interface Options {
  readonly archive: AuditArchive;
  /** Records below the oldest one of the state belong into the archive. */
  readonly view: () => Pick<View, "audit">;
  /** The sources, in order. */
  readonly sources: () => readonly AuditSource[];
  readonly clock: Clock;
  readonly logger: Logger;
}

export function startAuditFill(options: Options): { close(): Promise<void> } {
  const stop = new AbortController();
  const done = run(options, stop.signal);
  return {
    async close() {
      stop.abort();
      await done;
    },
  };
}

async function run(options: Options, stop: AbortSignal): Promise<void> {
  const { archive, clock, logger } = options;
  let wait: Duration = MIN_WAIT;
  let lookedAt = clock.now();
  while (!stop.aborted) {
    const closed = await closeGaps(options, stop);
    wait = closed ? MAX_WAIT : duration(Math.min(wait * 2, MAX_WAIT));
    if (clock.now() - lookedAt >= FORGET_EVERY) {
      lookedAt = clock.now();
      await archive
        .forget(lookedAt)
        .catch((error: unknown) => logger.error({ err: error }, "expired audit records not deleted"));
    }
    await sleep(clock, wait, stop);
  }
}

/** Returns true when nothing is missing. */
async function closeGaps(options: Options, stop: AbortSignal): Promise<boolean> {
  const { archive, view, sources, logger } = options;
  for (let gap = open(); gap !== null && !stop.aborted; gap = open()) {
    let better = false;
    for (const source of sources()) {
      try {
        better = (await take(options, source, gap, stop)) || better;
      } catch (error) {
        if (!stop.aborted) logger.warn({ err: error, from: source.id }, "audit records not fetched");
      }
      if (open()?.first !== gap.first) break;
    }
    if (!better) return false;
  }
  return true;

  function open(): AuditGap | null {
    return archive.gap(oldest(view()) - 1);
  }
}

/** Returns the number of the oldest record in the state; 1 when it has none. */
function oldest(view: Pick<View, "audit">): number {
  for (const { n } of view.audit()) return n;
  return 1;
}

/** Returns whether any record was added. */
async function take({ archive, clock, logger }: Options, source: AuditSource, gap: AuditGap, stop: AbortSignal) {
  const silent = new AbortController();
  const cancel = clock.after(ANSWER_WITHIN, () => silent.abort(new Error("the other server did not answer")));
  let records = 0;
  let whole = false;
  let floor = 1;
  try {
    for await (const page of source.readAudit(gap, AbortSignal.any([stop, silent.signal]))) {
      ({ whole, floor } = page);
      if (page.records.length > 0) await archive.fill(page.records);
      records += page.records.length;
    }
  } finally {
    cancel();
  }
  const raised = whole && floor > gap.first;
  if (raised) await archive.raiseFloor(Math.min(floor, gap.through + 1));
  if (records > 0) logger.info({ from: source.id, records, through: gap.through }, "audit records fetched");
  return records > 0 || raised;
}
