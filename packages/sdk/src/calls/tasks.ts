// The calls of TaskService. A launch is one request whose answer lasts as long as the tasks do, one
// JSON object per line; breaking it off ends the tasks. It is never begun twice by itself: tasks
// that have run may have changed something. One that has begun is gone on with when its server is lost.

import { toBase64 } from "../base64.ts";
import type { Caller, CallOptions } from "../call.ts";
import type { LaunchOptions, TellLaunch } from "../launch.ts";
import type { LaunchEvent, LaunchRequest } from "../task-types.ts";

export interface TaskCalls {
  /** Starts tasks in a running allocation. Leaving the loop, or the signal, ends them. */
  launch(id: string, request: LaunchRequest, options?: LaunchOptions): AsyncGenerator<LaunchEvent>;
  /** Ends the tasks of a launch, whoever reads it. */
  end(id: string, launchId: string, options?: CallOptions): Promise<void>;
  /** For a launch with `input` or `pty`. */
  sendInput(id: string, launchId: string, input: TaskInput, options?: CallOptions): Promise<void>;
}

const NOTHING = new Uint8Array();

export interface TaskInput {
  readonly data?: Uint8Array;
  /** How many bytes were sent before: then it may be sent again after a failure, and is taken once. */
  readonly offset?: number;
  /** The terminal's size from now on, together; it takes effect before `data`. */
  readonly rows?: number;
  readonly columns?: number;
  /** Nothing follows. */
  readonly end?: boolean;
}

export function taskCalls(caller: Caller): TaskCalls {
  const at = (id: string, rest = "") => `/api/v1/allocations/${encodeURIComponent(id)}/launches${rest}`;
  const tell: TellLaunch = async (id, launchId, body, options) => {
    const path = at(id, `/${encodeURIComponent(launchId)}`);
    await caller.json({ method: "POST", path, body, repeatable: true }, options);
  };
  return {
    async *launch(id, request, options = {}) {
      // Most programs launch nothing.
      const { launchTasks } = await import("../launch.ts");
      yield* launchTasks({ ...caller, path: at(id), tell, id }, request, options);
    },
    end: (id, launchId, options) => tell(id, launchId, { end: true }, options),
    async sendInput(id, launchId, { data = NOTHING, end = false, offset, rows, columns }, options) {
      const body = { data: toBase64(data), end, offset, rows, columns };
      const path = at(id, `/${encodeURIComponent(launchId)}/input`);
      await caller.json({ method: "POST", path, body, repeatable: offset !== undefined }, options);
    },
  };
}
