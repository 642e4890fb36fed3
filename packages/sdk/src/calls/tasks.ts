// The calls of TaskService. A launch is one request whose answer lasts as long as the tasks do, one
// JSON object per line; breaking it off ends the tasks. It is never repeated by itself: tasks
// that have run may have changed something.

import { fromBase64, toBase64 } from "../base64.ts";
import type { Caller, CallOptions } from "../call.ts";
import { errorFromAnswer } from "../error.ts";
import { eachLine } from "../lines.ts";
import type { LaunchEvent, LaunchRequest, NodeTasks } from "../task-types.ts";

export interface TaskCalls {
  /** Starts tasks in a running allocation. Leaving the loop, or the signal, ends them. */
  launch(id: string, request: LaunchRequest, options?: CallOptions): AsyncGenerator<LaunchEvent>;
  /** For a launch with `input` or `pty`. */
  sendInput(id: string, launchId: string, input: TaskInput, options?: CallOptions): Promise<void>;
}

export interface TaskInput {
  readonly data: Uint8Array;
  /** Nothing follows. */
  readonly end?: boolean;
}

export function taskCalls(caller: Caller): TaskCalls {
  const at = (id: string, rest = "") => `/api/v1/allocations/${encodeURIComponent(id)}/launches${rest}`;
  return {
    async *launch(id, request, options = {}) {
      const response = await caller.open(
        {
          method: "POST",
          path: at(id),
          body: request,
          repeatable: false,
          headers: { accept: "application/x-ndjson" },
        },
        // Tasks may be silent for days.
        { ...options, idleTimeoutMs: 0 },
      );
      for await (const line of eachLine(response.body)) {
        const event = eventOf(JSON.parse(line) as EventJson);
        if (event !== null) yield event;
      }
    },
    async sendInput(id, launchId, { data, end = false }, options) {
      const body = { data: toBase64(data), end };
      const path = at(id, `/${encodeURIComponent(launchId)}/input`);
      await caller.json({ method: "POST", path, body, repeatable: false }, options);
    },
  };
}

/** Fields with their default value are left out by the server. */
interface EventJson {
  readonly started?: { readonly launch_id: string; readonly layout?: readonly Partial<NodeTasks>[] };
  readonly output?: { readonly rank?: number; readonly stream?: "stdout" | "stderr"; readonly data?: string };
  readonly task_end?: {
    readonly rank?: number;
    readonly node?: string;
    readonly exit_code?: number;
    readonly signal?: number;
    readonly message?: string;
  };
  readonly end?: { readonly exit_code?: number; readonly reason?: string };
  readonly problem?: object;
}

/** Null: a kind of event that this client does not know yet. */
function eventOf({ started, output, task_end: task, end, problem }: EventJson): LaunchEvent | null {
  if (problem !== undefined) throw errorFromAnswer(0, JSON.stringify(problem));
  if (started !== undefined) {
    const layout = (started.layout ?? []).map(({ node = "", first_rank = 0, tasks = 0 }) => ({
      node,
      first_rank,
      tasks,
    }));
    return { kind: "started", launchId: started.launch_id, layout };
  }
  if (output !== undefined) {
    const { rank = 0, stream = "stdout", data = "" } = output;
    return { kind: "output", rank, stream, data: fromBase64(data) };
  }
  if (task !== undefined) {
    const { rank = 0, node = "", exit_code: exitCode = 0, signal = 0, message = "" } = task;
    return { kind: "task_end", rank, node, exitCode, signal, message };
  }
  return end === undefined ? null : { kind: "end", exitCode: end.exit_code ?? 0, reason: end.reason ?? "" };
}
