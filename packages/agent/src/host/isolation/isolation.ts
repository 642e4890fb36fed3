// How the processes of one attempt are held together. Three kinds exist, best first: a cgroup v2 group (one write
// kills all of it), a cgroup v1 group, and no group, where processes are found by their session and by a marker in
// their environment.

export interface AttemptPlace {
  /** The name of its wrapper and of its group. */
  readonly key: string;
  /** The attempt's directory, also the value of its marker variable. */
  readonly dir: string;
  /** Process id of the wrapper, which leads the session; null when unknown or already gone. */
  readonly leader: number | null;
  /** The user of its processes; null or absent for the agent's own. */
  readonly uid?: number | null;
}

export interface Isolation {
  readonly kind: "cgroup2" | "cgroup1" | "process_group";
  /** Creates the group of an attempt; returns the file by which its wrapper joins, or "". */
  prepare(place: AttemptPlace): Promise<string>;
  /** Path of its group, existing or not; "" without groups. */
  folderOf(key: string): string;
  /** All processes of the attempt, including the wrapper. */
  members(place: AttemptPlace): Promise<readonly number[]>;
  /** Whether the group holds its leader and nothing else, so that another attempt may use both. */
  isClean(place: AttemptPlace): boolean;
  /** Sends SIGKILL to all processes; concurrent forks need another call. */
  kill(place: AttemptPlace): Promise<void>;
  /** Removes the group; returns false while it has processes. */
  remove(place: AttemptPlace): Promise<boolean>;
  /** Returns the keys of all groups of this agent. */
  groups(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A process that has already ended is no failure. */
export function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // Ended meanwhile.
    }
  }
}
