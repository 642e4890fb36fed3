// Tells agents how closely to measure. An agent that connects has forgotten what it was told, so it is told again.

import { create } from "@bufbuild/protobuf";
import { duration, type TelemetryMode, type View } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { AgentHub } from "../../agents/hub.ts";
import type { Clock } from "../../clock.ts";
import type { Beat } from "../periodic.ts";
import { decideTelemetry, toldKey } from "./decide.ts";

export interface TelemetryContext {
  readonly view: () => View;
  readonly hub: Pick<AgentHub, "send" | "onConnect">;
  readonly clock: Clock;
}

export function telemetryBeat({ view, hub, clock }: TelemetryContext, signal: AbortSignal): Beat {
  let told = new Map<string, TelemetryMode>();
  const leave = hub.onConnect((node) => {
    for (const key of [...told.keys()]) if (key.startsWith(`${node} `)) told.delete(key);
  });
  signal.addEventListener("abort", leave, { once: true });
  return {
    name: "telemetry",
    every: duration(1_000),
    turn: async () => {
      const decided = decideTelemetry(view(), told, clock.now());
      told = new Map(decided.told);
      for (const intent of decided.intents) {
        const { node, allocation: allocationId, attempt, mode } = intent;
        const value = create(pb.SetTelemetrySchema, { allocationId, attempt, mode });
        // An agent that is away is told when it is back.
        if (!hub.send(node, { case: "setTelemetry", value })) told.delete(toldKey(intent));
      }
    },
  };
}
