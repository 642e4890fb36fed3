// The limits on the size and depth of a request body.

export interface BodyLimits {
  readonly maxBytes: number;
  /** Nested objects and lists. */
  readonly maxDepth: number;
}

/** A script may have 1 MiB; eight times that leaves room for its escaping in JSON. */
export const DEFAULT_BODY_LIMITS: BodyLimits = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 };
