// Where terminals and tasks enter a running attempt: the process to enter by, the control groups to join, and the
// job's environment.

export interface FirstProcess {
  readonly pid: number;
  /** The files by which its groups are joined, those of its limits included; one to a line, or "". */
  readonly joinBy: string;
  /** Folder with the seccomp filters of its processes. */
  readonly filters: string;
  /** The job's environment; `null` to read it from the process. */
  readonly variables: Readonly<Record<string, string>> | null;
}
