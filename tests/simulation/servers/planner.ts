// The planner of a simulated server: in the thread of the simulation, which may lose it. Cycles are checked as they are
// planned.

import { type AgentHub, type Clock, type ObserveCycle, type StartPlanner, startInline } from "@lattice/server";
import type { CycleResult, ReservationCheck } from "../checks/reservations.ts";

interface PlannerParts {
  readonly isConnected: AgentHub["connected"];
  readonly onCycle: ReservationCheck["cycle"];
  /** Receives the function that ends the planner as a crash does. */
  readonly onStart: (lose: () => void) => void;
}

export function simulatedPlanner(clock: Clock, { isConnected, onCycle, onStart }: PlannerParts): StartPlanner {
  return (events) => {
    const before = new Map<string, CycleResult>();
    const observe: ObserveCycle = (view, result, nowMs) => {
      onCycle(view, result, { before, nowMs, isConnected });
      before.set(result.vcluster, result);
    };
    const port = startInline(clock, observe)(events);
    onStart(() => {
      port.close();
      events.onEnd(new Error("the planner was lost"));
    });
    return port;
  };
}
