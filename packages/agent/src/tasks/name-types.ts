// Questions and answers about names that programs of one attempt publish for each other, for every library.

export type PmiEntry = readonly [key: string, value: string];

export type NameAct = "publish" | "lookup" | "unpublish";

export interface PmiNameQuestion {
  readonly id: number;
  readonly act: NameAct;
  /** Values only to publish. */
  readonly entries: readonly PmiEntry[];
  /** How long to wait for names that are not there yet; 0: not at all. */
  readonly waitSeconds: number;
}

export interface NameReply {
  /** Empty, taken, unknown, or full. */
  readonly problem: string;
  readonly found: readonly PmiEntry[];
}

/** A rank's question by PMI, answered in the version that the rank speaks. */
export interface NameEffect {
  readonly kind: "name";
  readonly rank: number;
  readonly version: 1 | 2;
  readonly act: NameAct;
  readonly name: string;
  readonly value: string;
}
