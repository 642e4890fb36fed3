// Who stands behind a command.

import type { UserName } from "./ids.ts";

/** Who asks, and the key that makes asking twice harmless. */
export interface Origin {
  readonly user: UserName;
  /** Null: not idempotent. */
  readonly requestId: string | null;
  /** Hash of the request body: the same id with another body is a conflict. */
  readonly bodyHash: string;
}
