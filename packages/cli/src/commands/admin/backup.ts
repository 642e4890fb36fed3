// `lattice admin backup`: creates, lists and verifies backups; `create` is the default. Backups are stored by the
// server, not on this machine.

import type { Backup, VerifyBackupResponse } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../../context.ts";
import type { Printer } from "../../output/printer.ts";
import { withSpinner } from "../../output/progress.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { showFields } from "./fields.ts";

const DESTINATION = [
  "--destination <place>",
  "directory on the server or s3://bucket/prefix (default: the configured one)",
] as const;

interface Flags {
  readonly destination?: string;
  readonly source?: string;
}

export function defineBackup(command: Command): void {
  const create = command.command("create", { isDefault: true }).description("Write a backup");
  create.option(...DESTINATION);
  create.action(async ({ destination }: Flags) => {
    const context = await createContext(create);
    const { client, print, settings } = context;
    const backup = await withSpinner(context, "Writing a backup", () => client.backups.create(destination));
    if (print.structured) return print.document(backup);
    if (settings.quiet) return print.line(backup.source);
    showBackup(print, backup);
  });

  const list = command.command("list").description("List backups, newest first");
  list.option(...DESTINATION);
  list.action(async ({ destination }: Flags) => showList(await createContext(list), destination));

  const verify = command.command("verify").description("Check whether a backup can be restored");
  verify.argument("[source]", "path on the server or s3://bucket/key (default: the newest)");
  verify.option("--source <source>", "same as the argument");
  verify.action(async (word: string | undefined, flags: Flags) => {
    const context = await createContext(verify);
    const { client, print, settings } = context;
    const source = word ?? flags.source;
    const found = await withSpinner(context, `Reading ${source ?? "the newest backup"}`, () =>
      client.backups.verify(source),
    );
    if (print.structured) await print.document(found);
    else if (settings.quiet) print.lines(found.backup === undefined ? [] : [found.backup.source]);
    else showChecks(print, found);
    if (found.ok !== true) throw failure(found);
  });
}

export function showBackup(print: Printer, backup: Backup): void {
  showFields(print, [
    ["Backup", backup.source],
    ["Written", backup.created_at === undefined ? undefined : localTime(backup.created_at)],
    ["Cluster", backup.cluster_id],
    ["Log index", backup.log_index],
    ["Term", backup.term],
    ["State hash", backup.state_hash],
    ["SHA-256", backup.sha256],
    ["Size", size(backup.bytes)],
    ["Allocations", backup.allocations ?? 0],
    ["Nodes", backup.nodes ?? 0],
    ["History records", backup.history_records ?? 0],
    ["Audit records", backup.audit_records ?? 0],
    ["Server version", backup.server_version],
  ]);
}

async function showList({ client, print, settings }: Context, destination: string | undefined): Promise<void> {
  const { backups = [] } = await client.backups.list(destination);
  if (print.structured) return print.document({ backups });
  if (settings.quiet) return print.lines(backups.map(({ source }) => source));
  print.table(columns, backups);
}

const columns: readonly Column<Backup>[] = [
  { header: "WRITTEN", value: ({ created_at }) => (created_at === undefined ? ABSENT : localTime(created_at)) },
  { header: "INDEX", value: ({ log_index }) => log_index ?? "unreadable", align: "right" },
  { header: "SIZE", value: ({ bytes }) => size(bytes), align: "right" },
  { header: "ALLOCATIONS", value: ({ allocations }) => String(allocations ?? 0), align: "right" },
  { header: "HISTORY", value: ({ history_records }) => String(history_records ?? 0), align: "right" },
  { header: "CLUSTER", value: ({ cluster_id }) => cluster_id?.slice(0, 8) || ABSENT },
  { header: "SOURCE", value: ({ source }) => source },
];

const size = (bytes = 0): string =>
  bytes < 1_048_576 ? `${Math.ceil(bytes / 1024)} kB` : `${Math.ceil(bytes / 1_048_576)} MB`;

function showChecks(print: Printer, { backup, checks = [] }: VerifyBackupResponse): void {
  if (backup !== undefined) print.line(backup.source);
  print.table(
    [
      { header: "CHECK", value: ({ name }) => name },
      { header: "RESULT", value: ({ ok }) => (ok === true ? "ok" : "failed") },
      { header: "DETAIL", value: ({ detail }) => detail ?? "" },
    ],
    checks,
  );
}

function failure({ backup, checks = [] }: VerifyBackupResponse): ProblemError {
  const failed = checks.find((check) => check.ok !== true);
  return new ProblemError("backup_unusable", {
    detail: `${backup?.source ?? "The backup"} does not pass the check "${failed?.name}": ${failed?.detail}`,
    hint: "Choose another backup; list them with: lattice admin backup list",
  });
}
