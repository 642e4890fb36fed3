// Runs a planner in a thread of its own.

import { Worker } from "node:worker_threads";
import { threadProgram } from "../../base/thread-program.ts";
import type { StartPlanner } from "./port.ts";

export const startThread: StartPlanner = (events) => {
  const worker = new Worker(threadProgram(import.meta.url, { built: "planner-worker.js", source: "worker.ts" }), {
    execArgv: [],
  });
  worker.on("message", events.onMessage);
  worker.on("error", (error) => events.onEnd(error instanceof Error ? error : new Error(String(error))));
  worker.on("exit", (status) => events.onEnd(new Error(`the thread ended with status ${status}`)));
  return {
    post: (message, moved = []) => worker.postMessage(message, moved),
    close: () => void worker.terminate(),
  };
};
