// What the shepherd has said and nobody has confirmed yet. It is kept until confirmed, so that neither
// a restarted agent nor a broken stream loses output or an exit; it is bounded, because a
// full spool stops the reading from the ranks.

import type { NumberedReport, ShepherdReport } from "../frames.ts";

/** Output that may be on its way; more makes ranks wait for their reader. */
export const MAX_UNCONFIRMED_BYTES = 1024 * 1024;

export interface Spool {
  add(report: ShepherdReport): NumberedReport;
  /** Everything up to this number has arrived. */
  confirm(number: number): void;
  unconfirmed(): readonly NumberedReport[];
  full(): boolean;
}

export function spool(): Spool {
  const kept = new Map<number, NumberedReport>();
  let number = 0;
  let bytes = 0;
  return {
    add(report) {
      number += 1;
      const numbered = { number, report };
      kept.set(number, numbered);
      bytes += sizeOf(report);
      return numbered;
    },
    confirm(upTo) {
      for (const [at, { report }] of kept) {
        if (at > upTo) return;
        kept.delete(at);
        bytes -= sizeOf(report);
      }
    },
    unconfirmed: () => [...kept.values()],
    full: () => bytes >= MAX_UNCONFIRMED_BYTES,
  };
}

/** Only output is unbounded; the rest is counted so that many small lines are not free. */
const sizeOf = (report: ShepherdReport): number => 64 + (report.kind === "output" ? report.data.length : 0);
