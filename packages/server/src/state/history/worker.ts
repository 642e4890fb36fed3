// The history thread: answers one request after the other, and in between verifies closed segments, one at a time, so
// that damage is reported before a record is needed.

import { parentPort, workerData } from "node:worker_threads";
import { asHistoryError } from "./history-error.ts";
import type { Reply, Request, WorkerSetup } from "./messages.ts";
import { type HistoryStore, openHistoryStore } from "./store.ts";

/** Pause between two segments, so that verification takes a small part of one core. */
const REST_MS = 250;

const port = parentPort;
if (port === null) throw new Error("history/worker.ts runs as a thread of the server");

const post = (reply: Reply): void => port.postMessage(reply);
const warn = (text: string): void => post({ kind: "warning", text });

try {
  const store = await openHistoryStore(workerData as WorkerSetup, warn);
  port.on("message", (request: Request) => answer(store, request));
  post({ kind: "ready" });
  sweep(store, [...store.closedSegments()]);
} catch (cause) {
  const error = asHistoryError(cause);
  post({ kind: "failed", call: null, code: error.code, message: error.message });
}

function answer(store: HistoryStore, { call, name, args }: Request): void {
  try {
    const operation = store[name] as (...args: readonly unknown[]) => unknown;
    post({ kind: "done", call, result: operation(...args) });
  } catch (cause) {
    const error = asHistoryError(cause);
    post({ kind: "failed", call, code: error.code, message: error.message });
  }
}

function sweep(store: HistoryStore, numbers: number[]): void {
  const number = numbers.shift();
  if (number === undefined) return;
  const timer = setTimeout(() => {
    const problem = store.check(number);
    if (problem !== null) warn(problem);
    sweep(store, numbers);
  }, REST_MS);
  timer.unref();
}
