// `lattice admin scheduler status`: the last scheduling cycles of the leader, per vCluster.

import type { VClusterCycles } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { localTime, shortTime } from "../../output/time.ts";
import { showFields } from "./fields.ts";

export function defineScheduler(command: Command): void {
  const status = command.command("status").description("Show the last scheduling cycle of each vCluster");
  status.action(async () => {
    const { client, print, settings } = await createContext(status);
    const answer = await client.scheduler.status(settings.named.vcluster);
    if (print.structured) return print.document(answer);
    const rows = answer.vclusters ?? [];
    if (settings.quiet) return print.lines(rows.map(({ vcluster }) => vcluster));
    const [only] = rows;
    if (only !== undefined && settings.named.vcluster !== undefined) return showOne(print, only, answer.leader);
    print.table(columns, rows);
    print.note(`Leader: ${answer.leader || "none"}`);
  });
}

const ms = (seconds: number | undefined): string =>
  seconds === undefined ? ABSENT : `${(seconds * 1000).toFixed(1)} ms`;

const waitingText = ({ waiting = {} }: VClusterCycles): string =>
  Object.entries(waiting)
    .map(([code, count]) => `${code} ${count}`)
    .join(", ") || ABSENT;

const columns: readonly Column<VClusterCycles>[] = [
  { header: "VCLUSTER", value: ({ vcluster }) => vcluster },
  { header: "PENDING", value: ({ pending }) => String(pending ?? 0), align: "right" },
  { header: "RUNNING", value: ({ running }) => String(running ?? 0), align: "right" },
  { header: "CYCLES", value: ({ cycles }) => String(cycles ?? 0), align: "right", optional: true },
  {
    header: "LAST",
    value: ({ last_cycle }) => localTime(last_cycle) || ABSENT,
    short: ({ last_cycle }) => shortTime(last_cycle) || ABSENT,
  },
  {
    header: "TOOK",
    value: ({ last_cycle, last_cycle_seconds }) => (last_cycle === undefined ? ABSENT : ms(last_cycle_seconds)),
  },
  { header: "PLACED", value: ({ placements }) => String(placements ?? 0), align: "right" },
  {
    header: "REFUSED",
    value: ({ placements_refused }) => String(placements_refused ?? 0),
    align: "right",
    optional: true,
  },
  { header: "WAITING FOR", value: waitingText, flexible: true },
];

function showOne(print: Printer, row: VClusterCycles, leader: string | undefined): void {
  showFields(print, [
    ["vCluster", row.vcluster],
    ["Scheduler", row.scheduler],
    ["Leader", leader],
    ["Cycle interval", `${row.cycle_interval_seconds ?? 0} s`],
    ["Pending", row.pending ?? 0],
    ["Running", row.running ?? 0],
    ["Cycles", row.cycles ?? 0],
    ["Last cycle", localTime(row.last_cycle)],
    ["Last cycle took", row.last_cycle === undefined ? undefined : ms(row.last_cycle_seconds)],
    ["Longest cycle", row.last_cycle === undefined ? undefined : ms(row.longest_cycle_seconds)],
    ["Considered", row.considered],
    ["Reservations", row.reservations],
    ["Placements", row.placements ?? 0],
    ["Placements refused", row.placements_refused ?? 0],
    ["Preemptions", row.preemptions ?? 0],
    ["Waiting for", waitingText(row)],
  ]);
}
