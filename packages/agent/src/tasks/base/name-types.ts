// Requests and replies about names that programs of one attempt publish for each other, for every library.

export type PmiEntry = readonly [key: string, value: string];

export type NameAct = "publish" | "lookup" | "unpublish";

export interface PmiNameQuestion {
  readonly id: number;
  readonly act: NameAct;
  /** Values for publishing only. */
  readonly entries: readonly PmiEntry[];
  /** How long to wait for missing names; 0 for no wait. */
  readonly waitSeconds: number;
}

export interface NameReply {
  /** Empty, taken, unknown, or full. */
  readonly problem: string;
  readonly found: readonly PmiEntry[];
}

/** A rank's PMI request, answered in the version of the rank. */
export interface NameEffect {
  readonly kind: "name";
  readonly rank: number;
  readonly version: 1 | 2;
  readonly act: NameAct;
  readonly name: string;
  readonly value: string;
}
