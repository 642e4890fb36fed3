// The types of taking a checkpoint on one node: the request, the program's answers, and the result.

export interface ProgramCheckpoint {
  /** Number within the allocation, from 1; a repeated number is not taken again. */
  readonly number: number;
  /** The program is stopped when all nodes have their checkpoint. */
  readonly thenStop: boolean;
  readonly timeoutMs: number;
  readonly maxDeferralMs: number;
  /** Older checkpoints that stay. Default: all of them. */
  readonly kept?: readonly number[];
}

/** The report of a program about a requested checkpoint. */
export type Answer =
  | { readonly kind: "progress"; readonly percent?: number; readonly estimatedSeconds?: number }
  /** The program defers the checkpoint. */
  | { readonly kind: "defer"; readonly ms: number }
  /** `bytes` is null when the program did not report a size. */
  | { readonly kind: "done"; readonly bytes: number | null }
  | { readonly kind: "failed"; readonly message: string };

export interface NodeCheckpointResult {
  readonly number: number;
  readonly ok: boolean;
  readonly bytes: number;
  readonly message: string;
}

export interface CheckpointProgressEvent {
  readonly number: number;
  readonly percent: number | null;
  readonly estimatedSeconds: number | null;
  readonly deferredMs: number;
}

/** Requests a checkpoint from one attempt, independent of the method. */
export interface CheckpointTarget {
  /** Requests the checkpoint; answers arrive by `heard`. Throws when the request cannot be delivered. */
  ask(wanted: ProgramCheckpoint, heard: (answer: Answer) => void): Promise<PendingCheckpoint>;
  /** Returns the newest finished checkpoint according to its files, or null. */
  word(): Promise<NodeCheckpointResult | null>;
  /** Stores the result for a restarted agent. */
  keep(result: NodeCheckpointResult): Promise<void>;
}

/** How a program of the agent gets into an attempt. */
export interface AttemptAccess {
  /** Words that join its control groups; empty without any. */
  readonly groups: readonly string[];
  /** Words that enter its namespaces and become its user; empty when these are the agent's own. */
  readonly enter: readonly string[];
}

export interface PendingCheckpoint {
  /** Polls for new answers. */
  look(): Promise<void>;
  /** The result is no longer awaited. */
  close(): void;
}
