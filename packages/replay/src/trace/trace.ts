// A workload trace as every policy sees it: jobs in the order of the queue, times in seconds on the
// trace's own clock. Reading drops what cannot be replayed and says how many and why.

export interface TraceJob {
  /** As the trace names it. */
  readonly id: string;
  readonly user: string;
  readonly submit: number;
  /** How long it really runs; never more than `request`. */
  readonly run: number;
  /** How long it asked for. */
  readonly request: number;
  readonly nodes: number;
  /** Preemption class, 0 to 10. */
  readonly priority: number;
}

export interface Dropped {
  readonly noSize: number;
  readonly noRunTime: number;
  readonly tooLarge: number;
}

export interface Trace {
  /** By submission, then by place in the file. */
  readonly jobs: readonly TraceJob[];
  readonly nodes: number;
  readonly dropped: Dropped;
}

/** What a parser found, before anything is dropped. */
export interface ParsedTrace {
  /** In the order of the file. */
  readonly jobs: readonly TraceJob[];
  /** The machine's size, where the trace states it. */
  readonly nodes: number | null;
}

export const DEFAULT_PRIORITY = 5;

/** Something is wrong with the trace; the line is counted from 1, null when it is the whole file. */
export class TraceError extends Error {
  readonly line: number | null;
  constructor(line: number | null, detail: string) {
    super(detail);
    this.name = "TraceError";
    this.line = line;
  }
}

/** The jobs that the machine can run, in queue order, and the count of the others. */
export function traceOf(parsed: ParsedTrace, nodes: number): Trace {
  let noSize = 0;
  let noRunTime = 0;
  let tooLarge = 0;
  const jobs = parsed.jobs.filter((job) => {
    if (!(job.nodes > 0)) noSize += 1;
    else if (!(job.run > 0)) noRunTime += 1;
    else if (job.nodes > nodes) tooLarge += 1;
    else return true;
    return false;
  });
  // Sorting is stable: equal submissions stay in the order of the file.
  return { jobs: jobs.sort((a, b) => a.submit - b.submit), nodes, dropped: { noSize, noRunTime, tooLarge } };
}

export const droppedCount = ({ noSize, noRunTime, tooLarge }: Dropped): number => noSize + noRunTime + tooLarge;
