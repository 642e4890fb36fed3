// `lattice admin pki`: a certificate authority for clusters that have none. Everything happens on this machine; no
// server is asked. Servers and agents take renewed files by themselves.

import { issue, makeAuthority, type Revocation, readRevocations, serialDigits, writeRevocations } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../../context.ts";
import { askOnTerminal } from "../../output/ask-first.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { parseCount } from "../../parse/count.ts";
import { gather } from "../../parse/pairs.ts";
import { parseSpan } from "../../parse/span.ts";
import {
  AUTHORITY,
  all,
  bad,
  checkName,
  describe,
  exists,
  type Issued,
  isDue,
  isKind,
  listFile,
  load,
  loadList,
  save,
  saveList,
  serialsOf,
} from "../../pki/folder.ts";

interface PkiFlags {
  readonly dir: string;
  readonly site: string;
  readonly days: number;
  /** Seconds; instead of days. */
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
const MOST_DAYS = 36_500;
const AUTHORITY_DAYS = 3_650;
const BEARER_DAYS = 365;
const SITE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function definePki(command: Command): void {
  const days = (text: string) => parseCount(text, 1, MOST_DAYS);
  const inFolder = (made: Command) => made.option("--dir <path>", "where the authority keeps its files", DEFAULT_DIR);

  const init = inFolder(command.command("init").description("Make an authority"));
  init
    .option("--site <name>", "part of every name", "local")
    .option("--days <count>", "how long it is good", days, AUTHORITY_DAYS);
  init.action(async (flags: PkiFlags) => {
    const { print } = await createContext(init);
    if (!SITE.test(flags.site))
      throw bad(`"${flags.site}" is not a site`, "Use lower-case letters, digits and dashes.");
    if (exists(flags.dir, AUTHORITY)) throw bad(`${flags.dir} holds an authority already`, "Choose another --dir.");
    save(flags.dir, AUTHORITY, await makeAuthority(flags.site, flags.days * DAY_MS));
    await tell(print, describe(flags.dir, AUTHORITY), flags.dir);
  });

  const give = inFolder(command.command("issue").description("Issue a certificate and its key"));
  give.argument("<name>", "of the server, as in server.id; of the node, as its agent is told; of the person");
  give.requiredOption("--kind <kind>", "server, agent or client");
  give.option("--host <name>", "a name or address that a server is reached at (repeatable)", gather);
  give.option("--tenant <name>", "of a client: whose work it sees and submits");
  give.option("--days <count>", "how long it is good", days, BEARER_DAYS);
  give.option("--lifetime <span>", "the same, such as 12h", parseSpan);
  give.action(async (name: string, flags: PkiFlags) => {
    const { print } = await createContext(give);
    if (!isKind(flags.kind)) throw bad(`--kind "${flags.kind}" is unknown`, "Use server, agent or client.");
    const hosts = flags.host ?? [];
    if (flags.kind === "server" && hosts.length === 0)
      throw bad("a server's certificate needs --host", "Name every host name and address that it is reached at.");
    const tenant = flags.tenant ?? "";
    if (tenant !== "" && flags.kind !== "client") throw bad("--tenant is for --kind client", "Leave it out.");
    if (tenant !== "") checkName(tenant);
    if (exists(flags.dir, checkName(name))) throw bad(`${name} has one already`, `lattice admin pki renew ${name}`);
    await issueTo(flags.dir, { name, kind: flags.kind, hosts, tenant, lifetimeMs: lifetimeOf(flags) });
    await tell(print, describe(flags.dir, name), flags.dir);
  });

  const renew = inFolder(command.command("renew").description("Issue certificates again, with new keys"));
  renew.argument("[names...]", "whose");
  renew.option("--due", "all that have less than a third of their life left");
  renew.option("--days <count>", "how long they are good", days, BEARER_DAYS);
  renew.option("--lifetime <span>", "the same, such as 12h", parseSpan);
  renew.action(async (names: readonly string[], flags: PkiFlags) => {
    const context = await createContext(renew);
    const bearers = all(flags.dir).filter(({ name }) => name !== AUTHORITY);
    const due = flags.due === true ? bearers.filter((one) => isDue(one, Date.now())) : [];
    const wanted = [...names.map((name) => describe(flags.dir, checkName(name))), ...due];
    if (names.length === 0 && flags.due !== true) throw bad("no name is given", "Name some, or give --due.");
    for (const { name, kind, hosts, tenant } of wanted) {
      if (!isKind(kind)) throw bad(`${name}.crt was not issued here`, "");
      await issueTo(flags.dir, { name, kind, hosts, tenant, lifetimeMs: lifetimeOf(flags) });
    }
    await show(
      context,
      wanted.map(({ name }) => describe(flags.dir, name)),
    );
  });

  const revoke = inFolder(command.command("revoke").description("Call certificates back before they end"));
  revoke.argument("[names...]", "whose: all that were issued to them, and what servers made of those since");
  revoke.option("--serial <digits>", "one by its number (repeatable)", gather).option("--yes", "do not ask");
  revoke.action(async (names: readonly string[], flags: PkiFlags) => {
    const { print } = await createContext(revoke);
    const serials = [
      ...names.flatMap((name) => serialsOf(flags.dir, checkName(name), Date.now())),
      ...(flags.serial ?? []).map(checkSerial),
    ];
    if (serials.length === 0) throw bad("nothing is named", "Name some, or give --serial.");
    const whose = [...names, ...(flags.serial ?? [])].join(", ");
    await askOnTerminal(flags.yes, `Revoke ${whose}? It cannot be taken back.`, `${whose} not revoked`);
    const count = await revokeAll(flags.dir, serials);
    if (print.structured) return print.document({ list: listFile(flags.dir), revoked: count });
    print.done(listFile(flags.dir), `${listFile(flags.dir)} names ${count} certificate${count === 1 ? "" : "s"}`);
  });

  const list = inFolder(command.command("list").description("Show what was issued"));
  list.action(async (flags: PkiFlags) => {
    const context = await createContext(list);
    load(flags.dir, AUTHORITY);
    await show(context, all(flags.dir));
  });
}

const lifetimeOf = ({ days, lifetime }: PkiFlags): number =>
  lifetime === undefined ? days * DAY_MS : lifetime * 1_000;

/** How many are on the list then. */
async function revokeAll(dir: string, serials: readonly string[]): Promise<number> {
  const authority = load(dir, AUTHORITY);
  const text = loadList(dir);
  const before = text === null ? [] : await readRevocations(text, [authority.cert]);
  const at = new Date();
  const all = new Map<string, Revocation>(serials.map((serial) => [serial, { serial, at }]));
  for (const old of before) all.set(old.serial, old);
  saveList(dir, await writeRevocations(authority, [...all.values()]));
  return all.size;
}

function checkSerial(text: string): string {
  const digits = text.replaceAll(":", "");
  if (/^[0-9a-fA-F]{1,40}$/.test(digits)) return serialDigits(digits);
  throw bad(`"${text.slice(0, 80)}" is not a serial number`, "Write it in hexadecimal digits.");
}

type Bearer = Pick<Issued, "name" | "hosts" | "tenant"> & {
  readonly kind: "server" | "agent" | "client";
  readonly lifetimeMs: number;
};

async function issueTo(dir: string, bearer: Bearer): Promise<void> {
  const authority = load(dir, AUTHORITY);
  save(dir, bearer.name, await issue(authority, { ...bearer, site: describe(dir, AUTHORITY).site }));
}

async function tell(print: Printer, issued: Issued, dir: string): Promise<void> {
  if (print.structured) return print.document(issued);
  print.done(
    issued.name,
    `${dir}/${issued.name}.crt and .key, good until ${issued.notAfter.toISOString().slice(0, 10)}`,
  );
}

async function show({ print, settings }: Context, rows: readonly Issued[]): Promise<void> {
  if (print.structured) return print.document({ certificates: rows });
  if (settings.quiet) return print.lines(rows.map(({ name }) => name));
  print.table(columns, rows);
}

const columns: readonly Column<Issued>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "UNTIL", value: ({ notAfter }) => notAfter.toISOString().slice(0, 10) },
  { header: "DUE", value: (issued) => (isDue(issued, Date.now()) ? "yes" : ABSENT) },
  { header: "HOSTS", value: ({ hosts }) => hosts.join(" ") || ABSENT, flexible: true },
];
