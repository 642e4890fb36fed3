// One staged piece of a restore in progress.

export interface Staged {
  readonly n: number;
  /** The id of the restore, so that two restores never mix. */
  readonly restore: string;
  /** For piece 0: whether the state is in place and only the history is missing. */
  readonly committed: boolean;
  /** A piece of the snapshot text, split anywhere. */
  readonly text: string;
}
