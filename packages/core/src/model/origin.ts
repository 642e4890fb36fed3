// The user behind a command.

import type { UserName } from "../base/ids.ts";

/** The user, and the request id that makes a retry harmless. */
export interface Origin {
  readonly user: UserName;
  /** `null` for a request without an id, which is not idempotent. */
  readonly requestId: string | null;
  /** Hash of the request body: the same id with another body is a conflict. */
  readonly bodyHash: string;
}
