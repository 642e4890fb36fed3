// How large and how deep a body may be.

export interface BodyLimits {
  readonly maxBytes: number;
  /** Objects and lists inside one another. */
  readonly maxDepth: number;
}

/** A script may have 1 MiB; eight times that leaves room for its escaping in JSON. */
export const DEFAULT_BODY_LIMITS: BodyLimits = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 };
