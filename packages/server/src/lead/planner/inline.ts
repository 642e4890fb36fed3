// Runs a planner in the thread of its server, with the messages of the threaded one: for the simulation, whose virtual
// time and order of events must not depend on threads.

import { duration } from "@lattice/core";
import type { Clock } from "../../base/clock.ts";
import { createPlannerHost } from "./host.ts";
import type { ObserveCycle } from "./planner.ts";
import type { StartPlanner } from "./port.ts";

const NOW = duration(0);

export function startInline(clock: Clock, onCycle?: ObserveCycle): StartPlanner {
  return (events) => {
    let isOpen = true;
    const later = (run: () => void) => clock.after(NOW, () => isOpen && run());
    const host = createPlannerHost({
      clock,
      post: (message) => later(() => events.onMessage(message)),
      ...(onCycle === undefined ? {} : { onCycle }),
    });
    return {
      post(message) {
        try {
          if (isOpen) host.handle(message);
        } catch (error) {
          later(() => events.onEnd(error instanceof Error ? error : new Error(String(error))));
        }
      },
      close() {
        isOpen = false;
        host.close();
      },
    };
  };
}
