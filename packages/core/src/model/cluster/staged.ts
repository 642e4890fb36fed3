// One piece of a restore under way, as the state keeps it.

export interface Staged {
  readonly n: number;
  /** Names the backup; two restores never mix. */
  readonly restore: string;
  /** Of piece 0: whether the state is in place and only the history is still to come. */
  readonly committed: boolean;
  /** A piece of the snapshot's text, cut anywhere. */
  readonly text: string;
}
