// The type of an entry of the error catalogue, and the values of its columns.

export interface CatalogueEntry {
  /** HTTP status. */
  readonly http: number;
  /** gRPC status number. */
  readonly grpc: number;
  /** Exit status of the CLI. */
  readonly exit: number;
  readonly title: string;
  /** The default hint. */
  readonly hint: string;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
}

export const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export const EXIT = { internal: 1, invalid: 2, unknown: 3, access: 4, conflict: 5, limit: 6, unavailable: 7 } as const;

export const entry = (
  http: number,
  grpc: number,
  exit: number,
  title: string,
  hint: string,
  retryable = false,
): CatalogueEntry => ({ http, grpc, exit, title, hint, retryable });
