// Where the output of allocations is kept for good. Objects are written whole and replaced whole;
// nothing is ever listed from an agent.

export interface LogStore {
  readonly place: string;
  put(key: string, bytes: Uint8Array, type: string): Promise<void>;
  /** Null: it is not there. */
  get(key: string): Promise<Buffer | null>;
}
