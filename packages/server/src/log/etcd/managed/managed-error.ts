// Why a managed etcd member cannot run, with what to do.

type ManagedErrorCode =
  | "missing_binary"
  | "too_old"
  | "no_data" // nothing to resume, and neither bootstrap nor join was asked for
  | "already_member" // the cluster knows this member, but its data is gone
  | "not_taken_in" // asked to join, the cluster did not take it in
  | "removed" // the cluster has let this member go
  | "did_not_start";

export class ManagedError extends Error {
  readonly code: ManagedErrorCode;
  constructor(code: ManagedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ManagedError";
    this.code = code;
  }
}
