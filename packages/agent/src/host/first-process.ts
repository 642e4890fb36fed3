// Where terminals and tasks enter a running attempt: the process to enter by, the user that the attempt was started as, the
// control groups to join, and the job's environment.

import type { FileUser } from "../files/user-files.ts";

export interface FirstProcess {
  readonly pid: number;
  /** Files by which a process joins its groups, including limits; one per line, or "". */
  readonly joinBy: string;
  /** Folder with the seccomp filters of its processes. */
  readonly filters: string;
  /** The job's environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** The user of the attempt, as recorded at its start; `null` for the agent's own. */
  readonly owner: FileUser | null;
}
