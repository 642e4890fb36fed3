// The way to a running planner. The server starts it in a thread; the simulation runs it in its own.

import type { FromPlanner, ToPlanner } from "./messages.ts";

export interface PlannerEvents {
  onMessage(message: FromPlanner): void;
  /** The planner has ended; may be called more than once. */
  onEnd(cause: Error): void;
}

export interface PlannerPort {
  /** `moved`: buffers that the sender gives up. */
  post(message: ToPlanner, moved?: readonly ArrayBuffer[]): void;
  close(): void;
}

export type StartPlanner = (events: PlannerEvents) => PlannerPort;
