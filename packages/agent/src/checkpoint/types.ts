// The nouns of taking a checkpoint on one node: what is wanted, what a program may answer, what came of it.

export interface Wanted {
  /** Of the allocation, from 1; the same number is taken once. */
  readonly number: number;
  /** It is stopped when all nodes have theirs. */
  readonly thenStop: boolean;
  readonly timeoutMs: number;
  readonly maxDeferralMs: number;
  /** Older ones that stay; absent: all do. */
  readonly kept?: readonly number[];
}

/** What a program says of a checkpoint that it was asked for. */
export type Answer =
  | { readonly kind: "progress"; readonly percent?: number; readonly estimatedSeconds?: number }
  /** Not now. */
  | { readonly kind: "defer"; readonly ms: number }
  /** `bytes` null: it did not say. */
  | { readonly kind: "done"; readonly bytes: number | null }
  | { readonly kind: "failed"; readonly message: string };

export interface Result {
  readonly number: number;
  readonly ok: boolean;
  readonly bytes: number;
  readonly message: string;
}

export interface Progress {
  readonly number: number;
  readonly percent: number | null;
  readonly estimatedSeconds: number | null;
  readonly deferredMs: number;
}

/** How one attempt is asked, whatever the means. */
export interface Target {
  /** Asks the program; answers come by `heard`. Throws when it cannot even be asked. */
  ask(wanted: Wanted, heard: (answer: Answer) => void): Promise<Asked>;
  /** The newest checkpoint that is over, as its files tell; null: none is. */
  word(): Result | null;
  /** Keeps what came of it, for an agent that is started again. */
  keep(result: Result): Promise<void>;
}

export interface Asked {
  /** Looks whether there is anything new; called again and again. */
  look(): Promise<void>;
  /** Nobody waits for it any more. */
  close(): void;
}
