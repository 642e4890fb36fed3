// Reports that no server has confirmed. They are kept until confirmed, so that neither a restarted agent nor a broken
// stream loses output or an exit. The spool is bounded: when it is full, the shepherd stops reading from the ranks.
// Facts that a new leader needs are kept longer: exits, the current and the previous fence, and published names.

import { entriesBytes } from "../base/exchange-limits.ts";
import type { NumberedReport, ShepherdReport } from "../frames.ts";

/** Limit of unconfirmed reports; beyond it ranks wait. */
const MAX_UNCONFIRMED_BYTES = 1024 * 1024;

interface Spool {
  add(report: ShepherdReport): NumberedReport;
  /** Everything up to this number has arrived. */
  confirm(number: number): void;
  /** This name request is not repeated. */
  answered(id: number): void;
  /** Returns everything that the next server must receive, in order. */
  toRepeat(): readonly NumberedReport[];
  /** Returns whether everything is confirmed. */
  empty(): boolean;
  full(): boolean;
}

export function spool(): Spool {
  const kept = new Map<number, NumberedReport>();
  /** Confirmed, and still needed by the next leader. */
  const lasting = new Map<number, NumberedReport>();
  const asked = new Set<number>();
  let number = 0;
  let bytes = 0;
  let fence = 0;

  /** A node may be in the next exchange while another has not received the end of the current one. */
  function lasts(report: ShepherdReport): boolean {
    if (report.kind === "fence") return report.number >= fence - 1;
    if (report.kind === "names") return asked.has(report.id);
    return report.kind === "exit" || report.kind === "abort" || report.kind === "killed";
  }

  function forget(): void {
    for (const [at, { report }] of lasting) if (!lasts(report)) lasting.delete(at);
  }

  return {
    add(report) {
      number += 1;
      const numbered = { number, report };
      kept.set(number, numbered);
      bytes += sizeOf(report);
      if (report.kind === "names") asked.add(report.id);
      if (report.kind === "fence") {
        fence = report.number;
        forget();
      }
      return numbered;
    },
    confirm(upTo) {
      for (const [at, numbered] of kept) {
        if (at > upTo) return;
        kept.delete(at);
        bytes -= sizeOf(numbered.report);
        if (lasts(numbered.report)) lasting.set(at, numbered);
      }
    },
    answered(id) {
      asked.delete(id);
      forget();
    },
    toRepeat: () => [...lasting.values(), ...kept.values()],
    empty: () => kept.size === 0,
    full: () => bytes >= MAX_UNCONFIRMED_BYTES,
  };
}

/** Many small reports are not free either. */
function sizeOf(report: ShepherdReport): number {
  if (report.kind === "output") return REPORT_BYTES + report.data.length;
  if (report.kind === "fence" || report.kind === "names") return REPORT_BYTES + entriesBytes(report.entries);
  return REPORT_BYTES;
}

const REPORT_BYTES = 64;
