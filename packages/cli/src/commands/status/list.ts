// The list of `lattice status`: the filter, paging, and output.

import type { Allocation, AllocationState, ListAllocationsRequest } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import { emptyListText } from "../../output/empty-list.ts";
import { statusColumns } from "./table.ts";

export interface ListFlags {
  readonly state?: readonly AllocationState[];
  readonly all?: boolean;
  readonly user?: string;
  readonly tag?: readonly string[];
  readonly project?: string;
  readonly name?: string;
  readonly node?: string;
  readonly reason?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly count?: boolean;
  readonly watch?: boolean;
  readonly expand?: boolean;
}

/** Allocations per request. */
const PAGE_SIZE = 200;
const COUNT_PAGE_SIZE = 1_000;
const LIVE: readonly AllocationState[] = ["pending", "staging", "running", "checkpointing", "suspended"];
const ENDED: readonly AllocationState[] = ["completed", "failed", "cancelled"];

/** With `group`, lists its elements. */
export async function showList(context: Context, flags: ListFlags, group?: string): Promise<void> {
  const { print, settings } = context;
  const filter = filterOf(context, flags, group);
  if (flags.count === true) return showCount(context, filter);
  const isTable = !print.structured && !settings.quiet;
  const found = await (isTable && filter.state === undefined && group === undefined
    ? liveFirst(context, filter, flags.limit)
    : newest(context, filter, flags.limit));
  const { rows, token, total } = found;
  if (print.structured) {
    const listed = { allocations: rows, ...(token === undefined ? {} : { next_page_token: token }) };
    // Each round of --watch is one line.
    return flags.watch === true ? print.streamed(listed) : print.document(listed);
  }
  if (settings.quiet) return print.lines(rows.map(({ id }) => id));
  print.table(statusColumns(print.paint, settings.output === "wide", Date.now()), rows);
  if (rows.length === 0) print.note(emptyListText("allocations", { ...filter, self: settings.user }));
  if (token !== undefined) {
    const of = total === undefined || total <= rows.length ? "" : ` of ${total}`;
    print.note(`Showing ${rows.length}${of}; use --limit to see more.`);
  }
}

interface Found {
  readonly rows: readonly Allocation[];
  /** Where the list continues. */
  readonly token: string | undefined;
  readonly total: number | undefined;
}

/** Returns running work first, then pending and suspended work, then what has ended; each newest first. */
async function liveFirst(context: Context, filter: ListAllocationsRequest, limit: number): Promise<Found> {
  const [live, ended] = await Promise.all([
    newest(context, { ...filter, state: LIVE }, limit),
    newest(context, { ...filter, state: ENDED }, limit),
  ]);
  const isWaiting = ({ state }: Allocation): boolean => state === "pending" || state === "suspended";
  const ordered = [...live.rows.filter((row) => !isWaiting(row)), ...live.rows.filter(isWaiting), ...ended.rows];
  const isCut = ordered.length > limit || ended.token !== undefined;
  const total = live.rows.length >= limit ? live.total : undefined;
  return { rows: ordered.slice(0, limit), token: live.token ?? (isCut ? "more" : undefined), total };
}

async function newest({ client }: Context, filter: ListAllocationsRequest, limit: number): Promise<Found> {
  const rows: Allocation[] = [];
  let token: string | undefined;
  let total: number | undefined;
  do {
    const page = await client.list({
      ...filter,
      page_size: Math.min(PAGE_SIZE, limit - rows.length),
      ...(token === undefined ? {} : { page_token: token }),
    });
    rows.push(...(page.allocations ?? []));
    total ??= page.total;
    token = page.next_page_token === "" ? undefined : page.next_page_token;
  } while (token !== undefined && rows.length < limit);
  return { rows, token, total };
}

function filterOf({ settings }: Context, flags: ListFlags, group: string | undefined): ListAllocationsRequest {
  const user = flags.all === true || group !== undefined ? undefined : (flags.user ?? settings.user);
  const { state, tag, project, name, node, reason, since, until } = flags;
  return {
    ...(state === undefined ? {} : { state }),
    ...(user === undefined ? {} : { user }),
    ...settings.named,
    ...(tag === undefined ? {} : { tag }),
    ...(project === undefined ? {} : { project }),
    ...(name === undefined ? {} : { name }),
    ...(node === undefined ? {} : { node }),
    ...(reason === undefined ? {} : { reason_code: reason }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(flags.expand === true ? { expand: true } : {}),
    ...(group === undefined ? {} : { group_id: group }),
  };
}

/** The server counts live allocations; ended ones are in the history and counted page by page. */
async function showCount({ client, print }: Context, filter: ListAllocationsRequest): Promise<void> {
  let count = 0;
  if (filter.state?.some((state) => ENDED.includes(state)) === true) {
    for await (const _ of client.listAll(filter, { pageSize: COUNT_PAGE_SIZE })) count += 1;
  } else {
    count = (await client.list({ ...filter, page_size: 1 })).total ?? 0;
  }
  if (print.structured) await print.document({ count });
  else print.line(String(count));
}
