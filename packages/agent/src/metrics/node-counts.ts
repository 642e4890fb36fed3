// The state of a node as its metrics page counts it.

import type { AttemptState } from "../lifecycle/attempt.ts";
import type { LogCounts } from "../logs/ship/shipper.ts";

export interface NodeCounts {
  readonly attempts: Readonly<Record<AttemptState["kind"], number>>;
  readonly terminals: number;
  readonly logStreams: number;
  readonly reportsWaiting: number;
  readonly log: LogCounts | null;
}
