// Starts the history thread and forwards calls to it. A thread that ends unexpectedly fails its open calls; the next
// call starts another, which finds everything on disk.

import { Worker } from "node:worker_threads";
import { threadProgram } from "../../base/thread-program.ts";
import { PACKAGE } from "./database.ts";
import { HistoryError } from "./history-error.ts";
import type { OperationName, Operations, Reply, WorkerSetup } from "./messages.ts";

/** Rows and records only pass through its memory. */
const LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

interface WorkerLink {
  call<N extends OperationName>(name: N, ...args: Parameters<Operations[N]>): Promise<ReturnType<Operations[N]>>;
  /** Resolves when the thread has opened its files. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(cause: HistoryError): void;
}

interface Thread {
  readonly worker: Worker;
  readonly ready: Promise<void>;
  readonly calls: Map<number, Waiting>;
}

export function createWorkerLink(setup: WorkerSetup, onWarning: (text: string) => void): WorkerLink {
  let thread: Thread | null = null;
  let nextCall = 1;
  let closed = false;

  const running = (): Thread => {
    if (closed) throw new HistoryError("closed", "history is closed");
    thread ??= start(setup, onWarning, (ended, cause) => {
      if (thread !== ended) return;
      thread = null;
      if (!closed) onWarning(`the history thread ended: ${cause.message}`);
    });
    return thread;
  };

  const send = async <N extends OperationName>(
    to: Thread,
    name: N,
    args: readonly unknown[],
  ): Promise<ReturnType<Operations[N]>> => {
    await to.ready;
    return new Promise((resolve, reject) => {
      const call = nextCall;
      nextCall += 1;
      to.calls.set(call, { resolve: (result) => resolve(result as ReturnType<Operations[N]>), reject });
      to.worker.postMessage({ call, name, args });
    });
  };

  return {
    ready: async () => running().ready,
    call: async (name, ...args) => send(running(), name, args),
    async close() {
      if (closed) return;
      const last = thread;
      closed = true;
      if (last === null) return;
      await send(last, "close", []).catch(() => undefined);
      await last.worker.terminate();
    },
  };
}

function start(
  setup: WorkerSetup,
  onWarning: (text: string) => void,
  onEnd: (thread: Thread, cause: HistoryError) => void,
): Thread {
  const worker = startWorker(setup);
  const calls = new Map<number, Waiting>();
  let opened: () => void = () => undefined;
  let failed: (cause: HistoryError) => void = () => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    opened = resolve;
    failed = reject;
  });
  ready.catch(() => undefined); // every caller awaits it for itself
  const thread: Thread = { worker, ready, calls };

  const end = (cause: HistoryError): void => {
    failed(cause);
    for (const waiting of calls.values()) waiting.reject(cause);
    calls.clear();
    onEnd(thread, cause);
  };
  worker.on("message", (reply: Reply) => {
    switch (reply.kind) {
      case "ready":
        return opened();
      case "warning":
        return onWarning(reply.text);
      case "done":
        calls.get(reply.call)?.resolve(reply.result);
        calls.delete(reply.call);
        return;
      case "failed": {
        const error = new HistoryError(reply.code, reply.message);
        if (reply.call === null) return end(error);
        calls.get(reply.call)?.reject(error);
        calls.delete(reply.call);
        return;
      }
    }
  });
  worker.on("error", (cause) => end(new HistoryError("unavailable", cause.message, { cause })));
  worker.on("exit", (code) => end(new HistoryError("unavailable", `the history thread ended with ${code}`)));
  return thread;
}

function startWorker(setup: WorkerSetup): Worker {
  const files = { built: "history-worker.js", source: "worker.ts", external: PACKAGE };
  return new Worker(threadProgram(import.meta.url, files), { workerData: setup, execArgv: [], resourceLimits: LIMITS });
}
