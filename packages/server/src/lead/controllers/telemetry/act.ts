// Sets the telemetry mode of attempts on their agents. An agent loses the mode when it reconnects, so it is sent again.

import { create } from "@bufbuild/protobuf";
import { duration, type TelemetryMode } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Clock } from "../../../base/clock.ts";
import type { AgentHub } from "../../../nodes/agents/hub.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Controller } from "../periodic/periodic.ts";
import { attemptKey, decideTelemetry } from "./decide.ts";

interface TelemetryContext {
  readonly replica: Pick<Replica, "view">;
  readonly hub: Pick<AgentHub, "send" | "onConnect">;
  readonly clock: Clock;
}

export function telemetryController({ replica, hub, clock }: TelemetryContext, signal: AbortSignal): Controller {
  let sent = new Map<string, TelemetryMode>();
  const leave = hub.onConnect((node) => {
    for (const key of [...sent.keys()]) if (key.startsWith(`${node} `)) sent.delete(key);
  });
  signal.addEventListener("abort", leave, { once: true });
  return {
    name: "telemetry",
    every: duration(1_000),
    run: async () => {
      const decided = decideTelemetry(replica.view, sent, clock.now());
      sent = new Map(decided.sent);
      for (const intent of decided.intents) {
        const { node, allocation: allocationId, attempt, mode } = intent;
        const value = create(pb.SetTelemetrySchema, { allocationId, attempt, mode });
        // A disconnected agent gets it when it reconnects.
        if (!hub.send(node, { case: "setTelemetry", value })) sent.delete(attemptKey(intent));
      }
    },
  };
}
