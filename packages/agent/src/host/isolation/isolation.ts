// How the processes of one attempt are held together. Three kinds exist, best first: a cgroup v2 group (one write
// kills all of it), a cgroup v1 group, and no group, where processes are found by their session and by a marker in
// their environment.

export interface AttemptPlace {
  /** The name of its wrapper and of its group. */
  readonly key: string;
  /** The attempt's folder, also the value of its marker. */
  readonly dir: string;
  /** The wrapper, leader of the session; null when unknown, or gone before this agent began. */
  readonly leader: number | null;
}

export interface Isolation {
  readonly kind: "cgroup2" | "cgroup1" | "process_group";
  /** Creates the group of an attempt; returns the file by which its wrapper joins, or "". */
  prepare(place: AttemptPlace): Promise<string>;
  /** The folder of its group, there or not; "" for none. */
  folderOf(key: string): string;
  /** Every process of the attempt, the wrapper included. */
  members(place: AttemptPlace): Promise<readonly number[]>;
  /** SIGKILL for all of them, once; those forked meanwhile need another call. */
  kill(place: AttemptPlace): Promise<void>;
  /** Takes the group away; false while something is still in it. */
  remove(place: AttemptPlace): Promise<boolean>;
  /** The keys of all groups this agent has on the machine. */
  groups(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A process that is gone by now is no failure. */
export function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone meanwhile.
    }
  }
}
