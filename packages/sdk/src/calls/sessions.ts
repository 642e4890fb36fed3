// The calls of SessionService: terminals, and the sessions that exist for them.

import type { Caller, CallOptions } from "../call.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import { keepShown } from "../shown-token.ts";
import { type AttachOptions, checkedSize, type Terminal, terminalOver } from "../terminal.ts";
import type { AllocationState, Paging, Submission } from "../types.ts";
import type { ChangeOptions } from "./allocations.ts";

export interface Session {
  readonly id: string;
  readonly allocation_id: string;
  readonly user: string;
  readonly state: AllocationState;
  readonly created_at: string;
  readonly owns_allocation?: boolean;
  readonly nodes?: readonly string[];
  readonly pending_reasons?: readonly string[];
  readonly estimated_start?: string;
  /** Whether it is a promise; absent: an estimate, which may move. */
  readonly start_reserved?: boolean;
  readonly reason?: string;
  readonly message?: string;
}

export interface CreatedSession {
  readonly session_id: string;
  readonly allocation_id: string;
  readonly state: AllocationState;
  readonly warnings?: readonly string[];
  readonly log_index: string;
}

export interface SessionPage {
  readonly sessions?: readonly Session[];
  readonly next_page_token?: string;
  readonly total?: number;
}

export interface SessionCalls {
  /** A submission without anything to run, or `{ allocation_id }` of one that runs. */
  create(submission: Submission | { readonly allocation_id: string }, options?: ChangeOptions): Promise<CreatedSession>;
  get(id: string, options?: CallOptions): Promise<Session>;
  list(
    filter?: Paging & { readonly user?: string | undefined; readonly tenant?: string | undefined },
    options?: CallOptions,
  ): Promise<SessionPage>;
  /**
   * Ends it, and with it the allocation that was made for it; with `exitCounts` as failed where the code is not 0, for
   * nodes that were held for work.
   */
  end(
    id: string,
    options?: ChangeOptions & { readonly exitCode?: number | undefined; readonly exitCounts?: boolean },
  ): Promise<{ readonly state: AllocationState }>;
}

export function sessionCalls(caller: Caller): SessionCalls {
  const at = (id: string) => `/api/v1/sessions/${encodeURIComponent(id)}`;
  return {
    create: (submission, options = {}) =>
      caller.json(
        {
          method: "POST",
          path: "/api/v1/sessions",
          body: withRequestId(submission, options.requestId),
          repeatable: true,
        },
        options,
      ),
    get: (id, options) => caller.json({ method: "GET", path: at(id) }, options),
    list: (filter = {}, options) =>
      caller.json({ method: "GET", path: `/api/v1/sessions${queryString(filter)}` }, options),
    end: (id, options = {}) => {
      const exit = { exit_code: options.exitCode, exit_counts: options.exitCounts };
      const path = `${at(id)}${queryString(withRequestId(exit, options.requestId))}`;
      return caller.json({ method: "DELETE", path, repeatable: true }, options);
    },
  };
}

/** Opens a terminal; rejects with the server's refusal. */
export async function attachTo(caller: Caller, id: string, options: AttachOptions = {}): Promise<Terminal> {
  const { node, command, term } = options;
  const size = options.size === undefined ? undefined : checkedSize(options.size);
  const query = queryString({ node, command, rows: size?.rows, cols: size?.cols, term });
  const opened = await caller.webSocket(`/api/v1/allocations/${encodeURIComponent(id)}/attach${query}`, options);
  keepShown(opened);
  return terminalOver(opened.connection);
}
