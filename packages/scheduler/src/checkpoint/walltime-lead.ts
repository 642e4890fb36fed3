// How long before the end of its walltime work is asked to save and stop. Long enough for its measured checkpoint; a
// short walltime bounds the lead, so that the work still runs for most of it.

interface LeadInput {
  readonly walltimeSeconds: number;
  /** Measured, or estimated before the first checkpoint. */
  readonly writeSeconds: number;
  readonly measured: boolean;
}

/** A checkpoint may take this many times its measured or estimated time. */
const WRITE_FACTOR = 2;
/** For the request, the answer, and files of a busy storage. */
const MARGIN_SECONDS = { measured: 10, estimated: 30 } as const;
/** The largest part of the walltime. */
const WALLTIME_SHARE = { measured: 1 / 2, estimated: 1 / 4 } as const;
/** Walltimes of a few seconds need this much for the request alone. */
const LEAST_SECONDS = 5;
const LEAST_SHARE = 1 / 2;

export function walltimeLead({ walltimeSeconds, writeSeconds, measured }: LeadInput): number {
  const known = measured ? "measured" : "estimated";
  const wanted = writeSeconds * WRITE_FACTOR + MARGIN_SECONDS[known];
  const least = Math.min(LEAST_SECONDS, walltimeSeconds * LEAST_SHARE);
  return Math.max(least, Math.min(wanted, walltimeSeconds * WALLTIME_SHARE[known]));
}
