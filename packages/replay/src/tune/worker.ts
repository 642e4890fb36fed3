// Trials on worker threads. Each worker runs this program in another thread; it gets the trace once, and then one
// candidate after the other.

import { parentPort, Worker, workerData } from "node:worker_threads";
import type { Summary } from "../result/summary.ts";
import type { WeightCandidate } from "./candidate.ts";
import { type TrialInput, tryCandidate } from "./trial.ts";

/** The side of the worker. */
export function serveTrials(): void {
  parentPort?.on("message", (candidate: WeightCandidate) => {
    parentPort?.postMessage(tryCandidate(workerData as TrialInput, candidate));
  });
}

interface Workers {
  tryAll(candidates: readonly WeightCandidate[]): Promise<readonly Summary[]>;
  close(): Promise<void>;
}

export function startWorkers(entry: string, count: number, input: TrialInput): Workers {
  const workers = Array.from({ length: count }, () => new Worker(new URL(entry), { workerData: input }));
  return {
    async tryAll(candidates) {
      const summaries: Summary[] = new Array(candidates.length);
      let next = 0;
      await Promise.all(
        workers.map(async (worker) => {
          for (let mine = next++; mine < candidates.length; mine = next++) {
            summaries[mine] = await ask(worker, candidates[mine] as WeightCandidate);
          }
        }),
      );
      return summaries;
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function ask(worker: Worker, candidate: WeightCandidate): Promise<Summary> {
  return new Promise((resolve, reject) => {
    const done = (act: () => void): void => {
      worker.removeAllListeners("message").removeAllListeners("error");
      act();
    };
    worker.once("message", (summary: Summary) => done(() => resolve(summary)));
    worker.once("error", (error) => done(() => reject(error)));
    worker.postMessage(candidate);
  });
}
