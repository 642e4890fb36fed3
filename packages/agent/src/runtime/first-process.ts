// Where those enter who come to a running attempt later: terminals and tasks. The process they enter by, how they join
// its groups, and the job's environment, which is not that of every process of it.

export interface FirstProcess {
  readonly pid: number;
  /** The files by which its groups are joined, those of its limits included; one to a line, or "". */
  readonly joinBy: string;
  /** Where the seccomp filters of its processes are kept, for those who enter. */
  readonly filters: string;
  /** The job's environment; null: that of the process. */
  readonly variables: Readonly<Record<string, string>> | null;
}
