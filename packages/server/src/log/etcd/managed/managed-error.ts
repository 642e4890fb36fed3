// Errors of a managed etcd member; each message says what to do.

type ManagedErrorCode =
  | "missing_binary"
  | "too_old"
  | "no_data" // nothing to resume, and neither bootstrap nor join was requested
  | "already_member" // the cluster knows this member, but its data is gone
  | "not_taken_in" // the cluster did not accept the new member
  | "data_lost" // a member was here, and its data is gone
  | "not_alone" // others may have a majority
  | "removed" // the cluster has removed this member
  | "did_not_start";

export class ManagedError extends Error {
  readonly code: ManagedErrorCode;
  constructor(code: ManagedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ManagedError";
    this.code = code;
  }
}
