// The calls of AllocationService.

import type { Caller, CallOptions } from "../call.ts";
import type { CheckpointStatus, ResumeResponse } from "../checkpoint-types.ts";
import type { Explanation, PlanAnswer, Timeline } from "../explain-types.ts";
import { followLogs } from "../follow-logs.ts";
import { eachItem } from "../pages.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type {
  Allocation,
  AllocationFilter,
  AllocationPage,
  AllocationUpdate,
  CancelResponse,
  LogsFilter,
  Paging,
  Submission,
  SubmitResponse,
  UpdateAllocationResponse,
  WatchEvent,
  WatchFilter,
} from "../types.ts";
import { type WatchOptions, watchEvents } from "../watch.ts";

/** `requestId` makes the change safe to repeat for 24 hours, across clients too; without one, each call has its own. */
export interface ChangeOptions extends CallOptions {
  readonly requestId?: string | undefined;
}

export interface AllocationCalls {
  submit(submission: Submission, options?: ChangeOptions): Promise<SubmitResponse>;
  get(id: string, options?: CallOptions): Promise<Allocation>;
  list(filter?: AllocationFilter & Paging, options?: CallOptions): Promise<AllocationPage>;
  listAll(
    filter?: AllocationFilter,
    options?: CallOptions & { readonly pageSize?: number },
  ): AsyncGenerator<Allocation>;
  cancel(id: string, options?: ChangeOptions & { readonly reason?: string | undefined }): Promise<CancelResponse>;
  update(id: string, changes: AllocationUpdate, options?: ChangeOptions): Promise<UpdateAllocationResponse>;
  /** Keeps what waits out of the queue: an allocation, a task group, or elements such as 12_3 or 12_[3-9,20]. */
  hold(id: string, options?: ChangeOptions): Promise<UpdateAllocationResponse>;
  /** Lets what is held wait its turn again. */
  release(id: string, options?: ChangeOptions): Promise<UpdateAllocationResponse>;
  /** Why it waits, or why it started where and when it did. */
  explain(id: string, options?: CallOptions): Promise<Explanation>;
  /** What submitting this would do now; nothing is submitted. */
  plan(submission: Submission, options?: CallOptions): Promise<PlanAnswer>;
  /** What has been decided about it so far. */
  timeline(id: string, options?: CallOptions): Promise<Timeline>;
  /** Asks for a checkpoint; it goes on afterwards. */
  checkpoint(id: string, options?: ChangeOptions): Promise<CheckpointStatus>;
  /** Its checkpoints, and what the broker thinks of taking another. */
  getCheckpoint(id: string, options?: CallOptions): Promise<CheckpointStatus>;
  /** Queues one again that was suspended at the end of its walltime. */
  resume(id: string, options?: ChangeOptions): Promise<ResumeResponse>;
  watch(filter?: WatchFilter, options?: WatchOptions): AsyncGenerator<WatchEvent>;
  /** What has been written so far, as raw bytes. */
  logs(id: string, filter?: LogsFilter, options?: CallOptions): AsyncGenerator<Uint8Array>;
  /** What is written until the allocation ends, as raw bytes; a server that goes away is waited for. */
  streamLogs(id: string, filter?: LogsFilter, options?: CallOptions): AsyncGenerator<Uint8Array>;
}

const LIST_PAGE_SIZE = 200;

export function allocationCalls(caller: Caller): AllocationCalls {
  const at = (id: string, rest = "") => `/api/v1/allocations/${encodeURIComponent(id)}${rest}`;
  const list: AllocationCalls["list"] = (filter = {}, options) =>
    caller.json({ method: "GET", path: `/api/v1/allocations${queryString(filter)}` }, options);
  const update: AllocationCalls["update"] = (id, changes, options = {}) =>
    caller.json(
      {
        method: "PATCH",
        path: at(id),
        body: withRequestId(changes, options.requestId),
        repeatable: true,
      },
      options,
    );
  return {
    list,
    submit: (submission, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: "/api/v1/allocations",
          body: withRequestId(submission, options.requestId),
          repeatable: true,
        },
        options,
      ),
    get: (id, options) => caller.json({ method: "GET", path: at(id) }, options),
    listAll: (filter = {}, options = {}) =>
      eachItem(
        (paging) => list({ ...filter, ...paging }, options),
        (page) => page.allocations ?? [],
        options.pageSize ?? LIST_PAGE_SIZE,
      ),
    cancel: (id, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: at(id, "/cancel"),
          body: withRequestId(options.reason === undefined ? {} : { reason: options.reason }, options.requestId),
          repeatable: true,
        },
        options,
      ),
    update,
    hold: (id, options) => update(id, { hold: true }, options),
    release: (id, options) => update(id, { hold: false }, options),
    explain: (id, options) => caller.json({ method: "GET", path: at(id, "/explain") }, options),
    plan: (submission, options) =>
      caller.json({ method: "POST", path: "/api/v1/allocations:plan", body: submission, repeatable: true }, options),
    timeline: (id, options) => caller.json({ method: "GET", path: at(id, "/timeline") }, options),
    checkpoint: (id, options = {}) => caller.json(change(at(id, "/checkpoint"), options), options),
    getCheckpoint: (id, options) => caller.json({ method: "GET", path: at(id, "/checkpoint") }, options),
    resume: (id, options = {}) => caller.json(change(at(id, "/resume"), options), options),
    watch: (filter = {}, options) => watchEvents(caller, filter, options),
    logs: (id, filter = {}, options = {}) => rawBytes(caller, at(id, `/logs${queryString(filter)}`), options),
    streamLogs: (id, filter = {}, options = {}) => followLogs(caller, at(id, "/logs/stream"), filter, options),
  };
}

const change = (path: string, { requestId }: ChangeOptions) => ({
  method: "POST" as const,
  path,
  body: withRequestId({}, requestId),
  repeatable: true,
});

/** A job may be silent for hours, so the bytes have no idle limit; the signal ends the wait. */
async function* rawBytes(caller: Caller, path: string, options: CallOptions): AsyncGenerator<Uint8Array> {
  const response = await caller.open(
    { method: "GET", path, headers: { accept: "application/octet-stream" } },
    { ...options, idleTimeoutMs: 0 },
  );
  yield* response.body;
}
