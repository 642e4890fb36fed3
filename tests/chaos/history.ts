// Everything that a run has observed, as plain values: answers to users, processes on the nodes, statements of the
// servers, and the log. Times are milliseconds of one clock that no fault touches.

export interface History {
  readonly submissions: readonly Submission[];
  readonly runs: readonly ProcessRun[];
  readonly polls: readonly Poll[];
  readonly log: readonly LogEntry[];
  readonly faults: readonly FaultRecord[];
  readonly end: EndState;
  readonly limits: Limits;
  /** Answers that contradict each other, detected when they were given. */
  readonly contradictions: readonly string[];
}

export interface Submission {
  readonly requestId: string;
  readonly tenant: string;
  readonly nodes: number;
  readonly tries: number;
  /** `null` when never acknowledged. It may have happened once all the same. */
  readonly id: string | null;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** A refusal that a retry does not change. */
  readonly refusal: string | null;
}

/** One start of a job's process on a node, recorded by the process itself. */
export interface ProcessRun {
  readonly allocation: string;
  readonly attempt: number;
  readonly node: string;
  readonly tenant: string;
  readonly startedAt: number;
  /** Its own last record, else the last time it was seen alive: it ended no earlier. */
  readonly aliveUntil: number;
  /** It recorded that it had done its work. */
  readonly finished: boolean;
}

/** The report of one server about its replica. */
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
  /** Violated expectations. */
  readonly complaints: readonly string[];
}

export interface EndState {
  /** The state of every acknowledged allocation, by server; `null` when unknown there. */
  readonly allocations: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
  readonly servers: readonly Poll[];
  readonly nodesNotReady: readonly string[];
  /** Processes of jobs that were still alive at the end. */
  readonly left: readonly string[];
}

export interface Limits {
  /** Maximum nodes at once, by tenant. */
  readonly quotas: ReadonlyMap<string, number>;
  readonly least: Minimums;
}

/** Minimums below which a run proves nothing. */
export interface Minimums {
  readonly acknowledged: number;
  readonly runs: number;
  readonly entries: number;
  readonly faults: number;
}
