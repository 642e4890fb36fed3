// `lattice admin vcluster queue`: pending allocations in scheduling order.

import type { QueueEntry } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { hoursMinutesSeconds, localTime } from "../../output/time.ts";

const PAGE_SIZE = 500;

export async function showQueue({ client, print, settings }: Context, id: string, limit: number): Promise<void> {
  const rows: QueueEntry[] = [];
  let token: string | undefined;
  let total = 0;
  do {
    const paging = {
      page_size: Math.min(PAGE_SIZE, limit - rows.length),
      ...(token === undefined ? {} : { page_token: token }),
    };
    const page = await client.vclusters.queue(id, paging);
    rows.push(...(page.entries ?? []));
    total = page.total ?? rows.length;
    token = page.next_page_token === "" ? undefined : page.next_page_token;
  } while (token !== undefined && rows.length < limit);
  if (print.structured) return print.document({ vcluster: id, total, entries: rows });
  if (settings.quiet) return print.lines(rows.flatMap(({ allocation_id }) => allocation_id || []));
  print.table(columns, rows);
  if (rows.length === 0) print.note(`The queue of ${id} is empty.`);
  if (rows.length < total) print.note(`Showing the first ${rows.length} of ${total}; use --limit to see more.`);
}

const columns: readonly Column<QueueEntry>[] = [
  { header: "#", value: ({ position }) => String(position), align: "right" },
  { header: "ID", value: ({ allocation_id }) => allocation_id || ABSENT },
  { header: "USER", value: ({ user }) => user || ABSENT },
  { header: "NAME", value: ({ name }) => name || ABSENT, flexible: true },
  {
    header: "NODES",
    value: ({ min_nodes = 1, max_nodes = min_nodes }) =>
      min_nodes === max_nodes ? String(min_nodes) : `${min_nodes}-${max_nodes}`,
  },
  {
    header: "WALLTIME",
    value: ({ walltime_seconds = 0 }) => (walltime_seconds === 0 ? ABSENT : hoursMinutesSeconds(walltime_seconds)),
  },
  { header: "SCORE", value: ({ score }) => (score === undefined ? ABSENT : (score / 1000).toFixed(3)), align: "right" },
  {
    header: "EXPECTED",
    value: ({ estimated_start, reserved }) =>
      estimated_start === undefined ? ABSENT : `${localTime(estimated_start)}${reserved === true ? " (reserved)" : ""}`,
  },
  { header: "REASON", value: ({ reason_codes = [] }) => reason_codes[0] ?? ABSENT },
];
