// The permanent store for output. Objects are written and replaced whole; agents never list them.

export interface LogStore {
  readonly place: string;
  put(key: string, bytes: Uint8Array, type: string): Promise<void>;
  /** Returns null when the object does not exist. */
  get(key: string): Promise<Buffer | null>;
}
