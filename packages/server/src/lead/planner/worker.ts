// The thread of the planner: carries out one message after the other. An error that is not an answer ends the thread,
// and the server starts another.

import { parentPort } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { createPlannerHost } from "./host.ts";
import type { ToPlanner } from "./messages.ts";

const port = parentPort;
if (port === null) throw new Error("planner/worker.ts runs as a thread of the server");

const host = createPlannerHost({
  clock: systemClock,
  post: (message, moved = []) => port.postMessage(message, moved),
});
port.on("message", (message: ToPlanner) => host.handle(message));
