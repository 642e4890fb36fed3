// Everything that a run has seen, as plain values: what users were told, what ran on the nodes, what the servers said
// about themselves, what the log holds. Times are milliseconds of one clock that no fault touches.

export interface History {
  readonly submissions: readonly Submission[];
  readonly runs: readonly ProcessRun[];
  readonly polls: readonly Poll[];
  readonly log: readonly LogEntry[];
  readonly faults: readonly FaultRecord[];
  readonly end: EndState;
  readonly limits: Limits;
  /** Answers that contradict each other, noticed when they were given. */
  readonly contradictions: readonly string[];
}

export interface Submission {
  readonly requestId: string;
  readonly tenant: string;
  readonly nodes: number;
  readonly tries: number;
  /** Null: never acknowledged. It may have happened all the same, once. */
  readonly id: string | null;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** A refusal that asking again does not change. */
  readonly refusal: string | null;
}

/** One start of a job's process on a node, by the process's own word. */
export interface ProcessRun {
  readonly allocation: string;
  readonly attempt: number;
  readonly node: string;
  readonly tenant: string;
  readonly startedAt: number;
  /** Its own last word, else the last time it was seen alive: it ended no earlier. */
  readonly aliveUntil: number;
  /** It said that it had done its work. */
  readonly finished: boolean;
}

/** What one server said about its copy of the state. */
export interface Poll {
  readonly server: string;
  readonly index: number;
  readonly hash: string;
}

export interface LogEntry {
  readonly index: number;
  readonly bytes: Uint8Array;
}

export interface FaultRecord {
  readonly name: string;
  readonly seconds: number;
  /** What was expected and did not come true. */
  readonly complaints: readonly string[];
}

export interface EndState {
  /** The state of every acknowledged allocation, by server; null: unknown there. */
  readonly allocations: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
  readonly servers: readonly Poll[];
  readonly nodesNotReady: readonly string[];
  /** Processes of jobs that were still alive when everything was over. */
  readonly left: readonly string[];
}

export interface Limits {
  /** Most nodes at once, by tenant. */
  readonly quotas: ReadonlyMap<string, number>;
  readonly least: Least;
}

/** A run in which less happened shows nothing. */
export interface Least {
  readonly acknowledged: number;
  readonly runs: number;
  readonly entries: number;
  readonly faults: number;
}
