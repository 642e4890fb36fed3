// Launches tasks in a running allocation. A launch is one request whose response lasts as long as the tasks, one JSON
// object per line; closing it ends the tasks. A launch that may have started is never started again; one that has
// started is resumed when its server is lost.

import { toBase64 } from "./base64.ts";
import type { Caller, CallOptions } from "./call.ts";
import type { ControlLaunch, LaunchOptions } from "./launch.ts";
import type { LaunchEvent, LaunchRequest } from "./launch-events.ts";

export interface TaskCalls {
  /** Starts tasks in a running allocation. Leaving the loop, or the signal, ends them. */
  launch(id: string, request: LaunchRequest, options?: LaunchOptions): AsyncGenerator<LaunchEvent>;
  /** Ends the tasks of a launch, also one that another client started. */
  end(id: string, launchId: string, options?: CallOptions): Promise<void>;
  /** For a launch with `input` or `pty`. */
  sendInput(id: string, launchId: string, input: TaskInput, options?: CallOptions): Promise<void>;
}

const NOTHING = new Uint8Array();

export interface TaskInput {
  readonly data?: Uint8Array;
  /** Number of bytes sent before. With it, input can be repeated after a failure and is delivered once. */
  readonly offset?: number;
  /** The new size of the terminal, both or neither; it takes effect before `data`. */
  readonly rows?: number;
  readonly columns?: number;
  /** Nothing follows. */
  readonly end?: boolean;
}

export function taskCalls(caller: Caller): TaskCalls {
  const at = (id: string, rest = "") => `/api/v1/allocations/${encodeURIComponent(id)}/launches${rest}`;
  const control: ControlLaunch = async (id, launchId, body, options) => {
    const path = at(id, `/${encodeURIComponent(launchId)}`);
    await caller.json({ method: "POST", path, body, repeatable: true }, options);
  };
  return {
    async *launch(id, request, options = {}) {
      // Loaded on demand: most programs launch nothing.
      const { launchTasks } = await import("./launch.ts");
      yield* launchTasks({ ...caller, path: at(id), control, id }, request, options);
    },
    end: (id, launchId, options) => control(id, launchId, { end: true }, options),
    async sendInput(id, launchId, { data = NOTHING, end = false, offset, rows, columns }, options) {
      const body = { data: toBase64(data), end, offset, rows, columns };
      const path = at(id, `/${encodeURIComponent(launchId)}/input`);
      await caller.json({ method: "POST", path, body, repeatable: offset !== undefined }, options);
    },
  };
}
