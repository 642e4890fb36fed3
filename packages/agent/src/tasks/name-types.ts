// What is asked and answered about names that programs of one attempt publish for each other, whichever library they
// speak through.

export type Entry = readonly [key: string, value: string];

export type NameAct = "publish" | "lookup" | "unpublish";

export interface NameQuestion {
  readonly id: number;
  readonly act: NameAct;
  /** Values only to publish. */
  readonly entries: readonly Entry[];
  /** How long to wait for names that are not there yet; 0: not at all. */
  readonly waitSeconds: number;
}

export interface NameAnswer {
  /** Empty, taken, unknown, or full. */
  readonly problem: string;
  readonly found: readonly Entry[];
}

/** A rank asks by PMI; it is to be answered in the version that it speaks. */
export interface NameEffect {
  readonly kind: "name";
  readonly rank: number;
  readonly version: 1 | 2;
  readonly act: NameAct;
  readonly name: string;
  readonly value: string;
}
