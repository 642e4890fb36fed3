// Opens a terminal in a running allocation over a WebSocket and keeps its token current.

import type { Caller } from "./call.ts";
import { queryString } from "./query.ts";
import { keepShown } from "./shown-token.ts";
import { type AttachOptions, checkedSize, type Terminal, terminalOver } from "./terminal.ts";

/** Opens a terminal; rejects with the server's problem. */
export async function attachTo(caller: Caller, id: string, options: AttachOptions = {}): Promise<Terminal> {
  const { node, command, term } = options;
  const size = options.size === undefined ? undefined : checkedSize(options.size);
  const query = queryString({ node, command, rows: size?.rows, cols: size?.cols, term });
  const opened = await caller.webSocket(`/api/v1/allocations/${encodeURIComponent(id)}/attach${query}`, options);
  keepShown(opened);
  return terminalOver(opened.connection);
}
