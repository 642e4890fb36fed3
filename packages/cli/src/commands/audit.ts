// `lattice audit`: queries, exports and verifies the audit log. An export can be verified without the cluster.

import type { AuditRecord, LatticeClient, QueryAuditRequest, VerifyAuditResponse } from "@lattice/sdk";
import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { globalFlags, OUTPUT_FORMATS } from "../global-options.ts";
import type { Column } from "../output/table.ts";
import { ABSENT } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { parseCount } from "../parse/count.ts";
import { parseTimestamp } from "../parse/timestamp.ts";
import type { RecordPage } from "./audit/export.ts";

interface AuditFlags {
  readonly user?: string;
  readonly allocation?: string;
  readonly alloc?: string;
  readonly node?: string;
  readonly dataPath?: string;
  readonly eventType?: string;
  readonly scope?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly file?: string;
  readonly output?: string;
  readonly keyFile?: string;
  readonly trust?: string;
}

const MOST = 1_000_000;
const PAGE = 1_000;

export function define(command: Command): void {
  const query = addFilters(command.command("query").description("Show audit records, newest first"));
  query.option("--limit <count>", "maximum number of records", (text) => parseCount(text, 1, MOST), 100);
  query.action(async (flags: AuditFlags) => {
    const { client, print, settings } = await createContext(query);
    const filter = { ...filterOf(flags, globalFlags(query).tenant), newest_first: true };
    const rows: AuditRecord[] = [];
    for await (const { records } of pages(client, filter, Math.min(PAGE, flags.limit))) {
      rows.push(...records);
      if (rows.length >= flags.limit) break;
    }
    const shown = rows.slice(0, flags.limit);
    if (print.structured) return print.document({ records: shown });
    if (settings.quiet) return print.lines(shown.map(({ number }) => number));
    print.table(columns, shown);
  });

  const save = addFilters(
    command.command("export").description("Write audit records, oldest first, one JSON object per line"),
  );
  save.option("--file <path>", "output file (default: standard output)");
  save.option("-o, --output <path>", "same as --file");
  save.option("--key-file <path>", "also write the public keys of the signatures to this file");
  save.action(async (flags: AuditFlags) => {
    const { client, print } = await createContext(save);
    const { exportTo } = await import("./audit/export.ts");
    const file = flags.file ?? fileOf(flags.output);
    const { keyFile } = flags;
    const found = pages(client, filterOf(flags, globalFlags(save).tenant), PAGE);
    const written = await exportTo(found, { file, keyFile });
    if (file !== undefined) print.note(`Wrote ${written} records to ${file}`);
  });

  const verify = command.command("verify").description("Verify the audit log of the cluster, or an export");
  verify.argument("[file]", "export to verify (default: the log of the cluster)");
  verify.option("--key-file <path>", "public keys of the cluster, to verify signatures too");
  verify.option("--trust <path>", "keys of an earlier export: later keys must be endorsed by them");
  verify.action(async (file: string | undefined, flags: AuditFlags) => {
    const { client, print } = await createContext(verify);
    const { verifyFile } = await import("./audit/export.ts");
    const verdict = file === undefined ? await client.audit.verify() : await verifyFile(file, flags);
    if (print.structured) await print.document(verdict);
    else if (verdict.ok === true)
      print.line(`${verdict.records ?? 0} records${rangeOf(verdict)}, ${soundness(verdict, file, flags)}`);
    else print.line(`The audit log is broken: ${verdict.problem}`);
    for (const key of verdict.unendorsed_keys ?? [])
      print.note(`The key ${key} was not endorsed by the key before it: after a restore, or a loss of the key`);
    if (verdict.ok !== true) process.exitCode = 1;
  });
}

const rangeOf = ({ first_record: first = "", last_record: last = "" }: VerifyAuditResponse): string =>
  first === "" ? "" : ` (${first} to ${last})`;

function soundness(
  { unsigned_records: unsigned = 0 }: VerifyAuditResponse,
  file: string | undefined,
  flags: AuditFlags,
) {
  const chain = "hash chain intact";
  if (file !== undefined && flags.keyFile === undefined) return `${chain}; signatures need --key-file`;
  return unsigned === 0 ? `${chain}, all signed` : `${chain}, the newest ${unsigned} not signed yet`;
}

/** `-o json` is the output format, not a file: an export is JSON anyway. */
const fileOf = (output: string | undefined): string | undefined =>
  OUTPUT_FORMATS.some((format) => format === output) ? undefined : output;

function addFilters(command: Command): Command {
  return command
    .option("--user <name>", "only actions of this user")
    .option("--allocation <id>", "only this allocation")
    .addOption(new Option("--alloc <id>", "same as --allocation").hideHelp())
    .option("--node <id>", "only this node")
    .option("--data-path <path>", "only this path and below")
    .option("--event-type <name>", "only this event type, for example grant.add")
    .option("--scope <name>", "access, tenants, nodes, work, cluster or sensitive")
    .option("--since <time>", "from this time: a date, a time, or a time before now such as 7d", parseTimestamp)
    .option("--until <time>", "before this time", parseTimestamp);
}

const filterOf = (flags: AuditFlags, tenant: string | undefined): QueryAuditRequest => ({
  user: flags.user,
  allocation: flags.allocation ?? flags.alloc,
  node: flags.node,
  tenant,
  data_path: flags.dataPath,
  event_type: flags.eventType,
  scope: flags.scope,
  since: flags.since,
  until: flags.until,
});

async function* pages(client: LatticeClient, filter: QueryAuditRequest, size: number): AsyncGenerator<RecordPage> {
  let token: string | undefined;
  do {
    const page = await client.audit.query({ ...filter, page_size: size, page_token: token });
    yield { records: page.records ?? [], keys: page.keys ?? [] };
    token = page.next_page_token === "" ? undefined : page.next_page_token;
  } while (token !== undefined);
}

const columns: readonly Column<AuditRecord>[] = [
  { header: "NUMBER", value: ({ number }) => number, align: "right" },
  { header: "TIME", value: ({ at }) => localTime(at) },
  { header: "USER", value: ({ user }) => user },
  { header: "EVENT", value: ({ event_type }) => event_type },
  { header: "TENANT", value: ({ tenant }) => tenant || ABSENT },
  { header: "ON", value: ({ allocation_id, node, data_path }) => allocation_id || node || data_path || ABSENT },
  { header: "DETAIL", value: ({ detail }) => detail || ABSENT, flexible: true },
];
