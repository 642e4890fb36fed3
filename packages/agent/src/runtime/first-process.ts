// Where those enter who come to a running attempt later: terminals and tasks. The process they enter by, how they join
// its group, and the job's environment, which is not that of every process of it.

export interface FirstProcess {
  readonly pid: number;
  /** The file by which its group is joined. */
  readonly joinBy: string;
  /** The job's environment; null: that of the process. */
  readonly variables: Readonly<Record<string, string>> | null;
}
