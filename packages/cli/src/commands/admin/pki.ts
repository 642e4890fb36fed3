// `lattice admin pki`: a certificate authority for clusters without one. It works on local files and contacts no
// server. Servers and agents reload renewed files automatically.

import { issue, makeAuthority, type Revocation, readRevocations, serialDigits, writeRevocations } from "@lattice/wire";
import type { Command } from "commander";
import { createLocalContext, type LocalContext } from "../../context.ts";
import { confirmOnTerminal } from "../../output/confirm.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { collect } from "../../parse/collect.ts";
import { parseCount } from "../../parse/count.ts";
import { parseDuration } from "../../parse/duration.ts";
import {
  AUTHORITY,
  checkName,
  crlFile,
  hasKey,
  type IssuedCertificate,
  invalidArgument,
  isDueForRenewal,
  isKind,
  listCertificates,
  loadCrl,
  loadPem,
  readCertificate,
  saveCrl,
  savePem,
  serialsOf,
} from "../../pki/folder.ts";

interface PkiFlags {
  readonly dir: string;
  readonly site: string;
  readonly days: number;
  /** In seconds; overrides days. */
  readonly lifetime?: number;
  readonly serial?: readonly string[];
  readonly kind: string;
  readonly host?: readonly string[];
  readonly tenant?: string;
  readonly due?: boolean;
  readonly yes?: boolean;
}

const DEFAULT_DIR = "lattice-pki";
const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;
const AUTHORITY_DAYS = 3_650;
const BEARER_DAYS = 365;
const SITE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function definePki(command: Command): void {
  const days = (text: string) => parseCount(text, 1, MAX_DAYS);
  const inFolder = (made: Command) => made.option("--dir <path>", "directory of the authority", DEFAULT_DIR);

  const init = inFolder(command.command("init").description("Create an authority"));
  init
    .option("--site <name>", "site name, part of every certificate", "local")
    .option("--days <count>", "validity in days", days, AUTHORITY_DAYS);
  init.action(async (flags: PkiFlags) => {
    const { print } = await createLocalContext(init);
    if (!SITE.test(flags.site))
      throw invalidArgument(`"${flags.site}" is not a valid site name`, "Use lower-case letters, digits and dashes.");
    if (hasKey(flags.dir, AUTHORITY))
      throw invalidArgument(`${flags.dir} already holds an authority`, "Choose another directory with --dir.");
    savePem(flags.dir, AUTHORITY, await makeAuthority(flags.site, flags.days * DAY_MS));
    await printIssued(print, readCertificate(flags.dir, AUTHORITY), flags.dir);
  });

  const give = inFolder(command.command("issue").description("Issue a certificate and its key"));
  give.argument("<name>", "server id, node name or user name");
  give.requiredOption("--kind <kind>", "server, agent or client");
  give.option("--host <name>", "host name or address of a server (repeatable)", collect);
  give.option("--tenant <name>", "tenant of a client");
  give.option("--days <count>", "validity in days", days, BEARER_DAYS);
  give.option("--lifetime <span>", "validity as a duration, such as 12h", parseDuration);
  give.action(async (name: string, flags: PkiFlags) => {
    const { print } = await createLocalContext(give);
    if (!isKind(flags.kind)) throw invalidArgument(`--kind "${flags.kind}" is unknown`, "Use server, agent or client.");
    const hosts = flags.host ?? [];
    if (flags.kind === "server" && hosts.length === 0)
      throw invalidArgument(
        "a server certificate needs --host",
        "Repeat --host for every name and address of the server.",
      );
    const tenant = flags.tenant ?? "";
    if (tenant !== "" && flags.kind !== "client")
      throw invalidArgument("--tenant needs --kind client", "Remove --tenant, or use --kind client.");
    if (tenant !== "") checkName(tenant);
    if (hasKey(flags.dir, checkName(name)))
      throw invalidArgument(`${name} already has a certificate`, `Run: lattice admin pki renew ${name}`);
    await issueTo(flags.dir, { name, kind: flags.kind, hosts, tenant, lifetimeMs: lifetimeOf(flags) });
    await printIssued(print, readCertificate(flags.dir, name), flags.dir);
  });

  const renew = inFolder(command.command("renew").description("Renew certificates, with new keys"));
  renew.argument("[names...]", "certificate names");
  renew.option("--due", "all with less than a third of their lifetime left");
  renew.option("--days <count>", "validity in days", days, BEARER_DAYS);
  renew.option("--lifetime <span>", "validity as a duration, such as 12h", parseDuration);
  renew.action(async (names: readonly string[], flags: PkiFlags) => {
    const context = await createLocalContext(renew);
    const bearers = listCertificates(flags.dir).filter(({ name }) => name !== AUTHORITY);
    const due = flags.due === true ? bearers.filter((one) => isDueForRenewal(one, Date.now())) : [];
    const wanted = [...names.map((name) => readCertificate(flags.dir, checkName(name))), ...due];
    if (names.length === 0 && flags.due !== true)
      throw invalidArgument("no certificate is named", "Name certificates, or use --due.");
    for (const { name, kind, hosts, tenant } of wanted) {
      if (!isKind(kind)) throw invalidArgument(`${name}.crt was not issued by this authority`, "");
      await issueTo(flags.dir, { name, kind, hosts, tenant, lifetimeMs: lifetimeOf(flags) });
    }
    await show(
      context,
      wanted.map(({ name }) => readCertificate(flags.dir, name)),
    );
  });

  const revoke = inFolder(command.command("revoke").description("Revoke certificates before they expire"));
  revoke.argument("[names...]", "certificate names; includes renewals issued by servers");
  revoke.option("--serial <digits>", "a serial number (repeatable)", collect).option("--yes", "do not ask");
  revoke.action(async (names: readonly string[], flags: PkiFlags) => {
    const { print } = await createLocalContext(revoke);
    const serials = [
      ...names.flatMap((name) => serialsOf(flags.dir, checkName(name), Date.now())),
      ...(flags.serial ?? []).map(checkSerial),
    ];
    if (serials.length === 0) throw invalidArgument("no certificate is named", "Name certificates, or use --serial.");
    const whose = [...names, ...(flags.serial ?? [])].join(", ");
    await confirmOnTerminal(flags.yes, `Revoke ${whose}? This cannot be undone.`, `${whose} not revoked`);
    const count = await revokeAll(flags.dir, serials);
    if (print.structured) return print.document({ list: crlFile(flags.dir), revoked: count });
    print.done(crlFile(flags.dir), `${crlFile(flags.dir)} lists ${count} revoked certificate${count === 1 ? "" : "s"}`);
  });

  const list = inFolder(command.command("list").description("List issued certificates"));
  list.action(async (flags: PkiFlags) => {
    const context = await createLocalContext(list);
    loadPem(flags.dir, AUTHORITY);
    await show(context, listCertificates(flags.dir));
  });
}

const lifetimeOf = ({ days, lifetime }: PkiFlags): number =>
  lifetime === undefined ? days * DAY_MS : lifetime * 1_000;

/** Returns the number of certificates on the list. */
async function revokeAll(dir: string, serials: readonly string[]): Promise<number> {
  const authority = loadPem(dir, AUTHORITY);
  const text = loadCrl(dir);
  const before = text === null ? [] : await readRevocations(text, [authority.cert]);
  const at = new Date();
  const all = new Map<string, Revocation>(serials.map((serial) => [serial, { serial, at }]));
  for (const old of before) all.set(old.serial, old);
  saveCrl(dir, await writeRevocations(authority, [...all.values()]));
  return all.size;
}

function checkSerial(text: string): string {
  const digits = text.replaceAll(":", "");
  if (/^[0-9a-fA-F]{1,40}$/.test(digits)) return serialDigits(digits);
  throw invalidArgument(`"${text.slice(0, 80)}" is not a serial number`, "Write hexadecimal digits.");
}

type Bearer = Pick<IssuedCertificate, "name" | "hosts" | "tenant"> & {
  readonly kind: "server" | "agent" | "client";
  readonly lifetimeMs: number;
};

async function issueTo(dir: string, bearer: Bearer): Promise<void> {
  const authority = loadPem(dir, AUTHORITY);
  savePem(dir, bearer.name, await issue(authority, { ...bearer, site: readCertificate(dir, AUTHORITY).site }));
}

async function printIssued(print: Printer, issued: IssuedCertificate, dir: string): Promise<void> {
  if (print.structured) return print.document(issued);
  print.done(
    issued.name,
    `${dir}/${issued.name}.crt and .key, valid until ${issued.notAfter.toISOString().slice(0, 10)}`,
  );
}

async function show({ print, settings }: LocalContext, rows: readonly IssuedCertificate[]): Promise<void> {
  if (print.structured) return print.document({ certificates: rows });
  if (settings.quiet) return print.lines(rows.map(({ name }) => name));
  print.table(columns, rows);
}

const columns: readonly Column<IssuedCertificate>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "UNTIL", value: ({ notAfter }) => notAfter.toISOString().slice(0, 10) },
  { header: "DUE", value: (issued) => (isDueForRenewal(issued, Date.now()) ? "yes" : ABSENT) },
  { header: "HOSTS", value: ({ hosts }) => hosts.join(" ") || ABSENT, flexible: true },
];
