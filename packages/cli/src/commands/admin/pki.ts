// `lattice admin pki`: a certificate authority for clusters that have none. Everything happens on this machine; no
// server is asked. Servers and agents take renewed files by themselves.

import type { Command } from "commander";
import { createContext } from "../../context.ts";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { parseCount } from "../../parse/count.ts";
import { gather } from "../../parse/pairs.ts";
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
  load,
  save,
} from "../../pki/folder.ts";

interface PkiFlags {
  readonly dir: string;
  readonly site: string;
  readonly days: number;
  readonly kind: string;
  readonly host?: readonly string[];
  readonly due?: boolean;
}

const DEFAULT_DIR = "lattice-pki";
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
    const { makeAuthority } = await import("../../pki/authority.ts");
    save(flags.dir, AUTHORITY, await makeAuthority(flags.site, flags.days));
    await tell(print, describe(flags.dir, AUTHORITY), flags.dir);
  });

  const give = inFolder(command.command("issue").description("Issue a certificate and its key"));
  give.argument("<name>", "of the server, as in server.id; of the node, as its agent is told; of the person");
  give.requiredOption("--kind <kind>", "server, agent or client");
  give.option("--host <name>", "a name or address that a server is reached at (repeatable)", gather);
  give.option("--days <count>", "how long it is good", days, BEARER_DAYS);
  give.action(async (name: string, flags: PkiFlags) => {
    const { print } = await createContext(give);
    if (!isKind(flags.kind)) throw bad(`--kind "${flags.kind}" is unknown`, "Use server, agent or client.");
    const hosts = flags.host ?? [];
    if (flags.kind === "server" && hosts.length === 0)
      throw bad("a server's certificate needs --host", "Name every host name and address that it is reached at.");
    if (exists(flags.dir, checkName(name))) throw bad(`${name} has one already`, `lattice admin pki renew ${name}`);
    await issueTo(flags.dir, { name, kind: flags.kind, hosts, days: flags.days });
    await tell(print, describe(flags.dir, name), flags.dir);
  });

  const renew = inFolder(command.command("renew").description("Issue certificates again, with new keys"));
  renew.argument("[names...]", "whose");
  renew.option("--due", "all that have less than a third of their life left");
  renew.option("--days <count>", "how long they are good", days, BEARER_DAYS);
  renew.action(async (names: readonly string[], flags: PkiFlags) => {
    const { print } = await createContext(renew);
    const bearers = all(flags.dir).filter(({ name }) => name !== AUTHORITY);
    const due = flags.due === true ? bearers.filter((one) => isDue(one, Date.now())) : [];
    const wanted = [...names.map((name) => describe(flags.dir, checkName(name))), ...due];
    if (names.length === 0 && flags.due !== true) throw bad("no name is given", "Name some, or give --due.");
    for (const { name, kind, hosts } of wanted) {
      if (!isKind(kind)) throw bad(`${name}.crt was not issued here`, "");
      await issueTo(flags.dir, { name, kind, hosts, days: flags.days });
    }
    await show(
      print,
      wanted.map(({ name }) => describe(flags.dir, name)),
    );
  });

  const list = inFolder(command.command("list").description("Show what was issued"));
  list.action(async (flags: PkiFlags) => {
    const { print } = await createContext(list);
    load(flags.dir, AUTHORITY);
    await show(print, all(flags.dir));
  });
}

type Bearer = Pick<Issued, "name" | "hosts"> & { readonly kind: "server" | "agent" | "client"; readonly days: number };

async function issueTo(dir: string, bearer: Bearer): Promise<void> {
  const authority = load(dir, AUTHORITY);
  const { issue } = await import("../../pki/authority.ts");
  save(dir, bearer.name, await issue(authority, { ...bearer, site: describe(dir, AUTHORITY).site }));
}

async function tell(print: Printer, issued: Issued, dir: string): Promise<void> {
  if (print.structured) return print.document(issued);
  print.line(`${dir}/${issued.name}.crt and .key, good until ${issued.notAfter.toISOString().slice(0, 10)}`);
}

async function show(print: Printer, rows: readonly Issued[]): Promise<void> {
  if (print.structured) return print.document({ certificates: rows });
  print.table(columns, rows);
}

const columns: readonly Column<Issued>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "UNTIL", value: ({ notAfter }) => notAfter.toISOString().slice(0, 10) },
  { header: "DUE", value: (issued) => (isDue(issued, Date.now()) ? "yes" : ABSENT) },
  { header: "HOSTS", value: ({ hosts }) => hosts.join(" ") || ABSENT, flexible: true },
];
