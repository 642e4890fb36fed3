// Where terminals and tasks enter a running attempt: the process to enter by, the control groups to join, and the
// job's environment.

export interface FirstProcess {
  readonly pid: number;
  /** Files by which a process joins its groups, including limits; one per line, or "". */
  readonly joinBy: string;
  /** Folder with the seccomp filters of its processes. */
  readonly filters: string;
  /** The job's environment; `null` to read it from the process. */
  readonly variables: Readonly<Record<string, string>> | null;
}
