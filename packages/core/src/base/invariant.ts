// Bugs are exceptions, refusals are data. `invariant` checks conditions that only a bug can violate. The replica must
// stop when it throws, because the state may be half changed.

export class InvariantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvariantError";
  }
}

export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Returns a value that must exist because another table refers to it. */
export function present<T>(value: T | undefined, message: string): T {
  invariant(value !== undefined, message);
  return value;
}
