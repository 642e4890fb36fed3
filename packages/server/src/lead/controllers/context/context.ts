// The parts of the leader that controllers read and act through.

import type { Instant } from "@lattice/core";
import type { Logger } from "pino";
import type { Clock } from "../../../base/clock.ts";
import type { Config } from "../../../base/config/index.ts";
import type { Metrics } from "../../../base/observe/index.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { FabricDomains } from "../../../nodes/fabric/domains.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Broker } from "../checkpoint/act.ts";
import type { ScalingContext } from "../scaling/act.ts";
import type { HookWire } from "../webhooks/wire.ts";

export interface ControllerContext {
  readonly replica: Replica;
  readonly sequencer: Sequencer;
  /** Checks with the log; false when the log cannot be reached. */
  readonly stillLeads: () => Promise<boolean>;
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the start of the term, or of the last restore, on the monotonic clock. */
  readonly leadingSince: () => Instant;
  /** Returns the configuration in force. */
  readonly config: () => Config;
  /** `null` when Lattice does not manage the fabric. */
  readonly fabric: FabricDomains | null;
  readonly broker: Broker;
  /** Transport of webhooks. Default: the platform's HTTP client. */
  readonly webhookWire?: HookWire;
  readonly metrics: Pick<Metrics, "webhook" | "scaled" | "metricQueryFailed">;
  readonly scaling: Pick<ScalingContext, "reserved" | "readings" | "probed">;
}
