// The type of errors as values: the result of an operation that can fail for a reason that the caller handles. Commands
// have their own outcome (outcome.ts); a bug is an exception (invariant.ts).

export type Result<T, E = string> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const failed = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });
