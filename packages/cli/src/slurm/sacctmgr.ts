// `sacctmgr`: shows users, associations, accounts, QoS and the cluster. Accounts are tenants, which administrators change
// with `lattice admin tenant`; so changes are refused with the command for them.

import { DEFAULT_QOS_CLASSES } from "@lattice/wire";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import type { SlurmContext } from "./context.ts";
import { printRecords, type RecordField } from "./record-table.ts";
import { SlurmError, slurmError, unsupported } from "./slurm-error.ts";

const GRAMMAR: Grammar = {
  program: "sacctmgr",
  rules: [
    { long: "noheader", short: "n" },
    { long: "parsable", short: "p" },
    { long: "parsable2", short: "P" },
    { long: "associations", short: "s" },
    { long: "immediate", short: "i" },
    { long: "quiet", short: "Q" },
    { long: "readonly", short: "r" },
    { long: "verbose", short: "v" },
  ],
};

/** The cells of one line, by the name of the column in lower case. */
type Row = Readonly<Record<string, string>>;

interface Entity {
  /** Default columns; `-s` shows those of associations. */
  readonly columns: readonly string[];
  readonly rows: (context: SlurmContext) => Promise<readonly Row[]>;
}

const ASSOCIATION = ["Cluster", "Account", "User", "Partition", "Share", "MaxJobs", "MaxNodes", "MaxWall", "QOS"];

const ENTITIES: Readonly<Record<string, Entity>> = {
  user: { columns: ["User", "DefAccount", "Admin"], rows: associations },
  association: { columns: ASSOCIATION, rows: associations },
  account: { columns: ["Account", "Descr", "Org"], rows: accounts },
  qos: { columns: ["Name", "Priority", "GraceTime", "PreemptMode", "Flags", "UsageFactor"], rows: qosRows },
  cluster: { columns: ["Cluster", "ControlHost", "ControlPort", "RPC", "Share", "QOS", "Def QOS"], rows: clusters },
};

/** Widths by column; others have 10. */
const WIDTHS: Readonly<Record<string, number>> = { descr: 20, org: 20, qos: 20, usagefactor: 11, controlhost: 15 };
const WRITING = new Set(["add", "create", "delete", "remove", "modify", "set", "load", "dump", "archive", "clear"]);

export const command: SlurmCommand = {
  help: "Usage: sacctmgr [-n] [-p|-P] [-s] show|list user|association|account|qos|cluster [NAME] [format=FIELD[%WIDTH],...] [user=NAME] [account=NAME]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const [verb = "", what = "", ...rest] = words.operands;
    const name = verb.toLowerCase();
    if (WRITING.has(name)) throw unsupported("sacctmgr", `sacctmgr ${name}`, "use `lattice admin tenant`");
    if (name !== "show" && name !== "list") throw new SlurmError([` Invalid keyword: "${verb}"`]);
    return show(context, words, { what, rest });
  },
};

async function show(
  context: SlurmContext,
  words: SlurmCommandLine,
  { what, rest }: { readonly what: string; readonly rest: readonly string[] },
): Promise<number> {
  const [kind, entity] = entityOf(what);
  const { filters, names, format, withAssociations } = termsOf(rest);
  const all = withAssociations || has(words, "associations");
  const columns = format ?? (kind === "user" && all ? ["User", "DefAccount", "Admin", ...ASSOCIATION] : entity.columns);
  const shown = (await entity.rows(context)).filter(
    (row) =>
      Object.entries(filters).every(([key, values]) => values.includes(row[key] ?? "")) &&
      (names.length === 0 || names.includes(row[OWN_NAME[kind] ?? kind] ?? "")),
  );
  printRecords(words, columns.map(fieldOf), shown);
  return 0;
}

const OWN_NAME: Readonly<Record<string, string>> = { association: "user", qos: "name" };

function entityOf(what: string): readonly [string, Entity] {
  const name = what.toLowerCase();
  const found = Object.entries(ENTITIES).find(([kind]) => name.length > 1 && `${kind}s`.startsWith(name));
  if (found !== undefined) return found;
  throw new SlurmError([
    ` Invalid entity: "${what}"`,
    ` sacctmgr: shown are ${Object.keys(ENTITIES).join(", ")}; for the rest use \`lattice admin\``,
  ]);
}

interface Terms {
  readonly filters: Readonly<Record<string, readonly string[]>>;
  readonly names: readonly string[];
  readonly format: readonly string[] | null;
  readonly withAssociations: boolean;
}

/** Parses `where`, `user=a,b`, `format=user,account%20`, `withassoc` and bare names. */
function termsOf(words: readonly string[]): Terms {
  const filters: Record<string, readonly string[]> = {};
  const names: string[] = [];
  let format: readonly string[] | null = null;
  let withAssociations = false;
  for (const word of words) {
    const [key = "", value] = word.split(/=(.*)/s);
    const name = key.toLowerCase();
    const values = (value ?? "").split(",").filter((one) => one !== "");
    if (value === undefined && name.startsWith("withassoc")) withAssociations = true;
    else if (value === undefined && name !== "where" && !name.startsWith("with")) names.push(...key.split(","));
    else if (name.startsWith("format")) format = values;
    else if (/^(user|account|cluster|name)s?$/.test(name)) filters[name.replace(/s$/, "")] = values;
    else if (value !== undefined && name !== "partition" && name !== "qos")
      throw slurmError("sacctmgr", `Unknown condition: ${word}`);
  }
  return { filters, names, format, withAssociations };
}

/** Any unambiguous beginning of a column's name is the column, as in Slurm. */
const COLUMNS = `Cluster Account User Partition Share MaxJobs MaxNodes MaxWall QOS DefaultQOS DefAccount Admin Descr Org
  Name Priority GraceTime PreemptMode Flags UsageFactor ControlHost ControlPort RPC ParentName MaxTRES GrpTRES GrpJobs
  GrpNodes MaxSubmitJobs Fairshare WithDeleted`.split(/\s+/);

function fieldOf(item: string): RecordField<Row> {
  const [text = "", width] = item.split("%");
  const wanted = text
    .toLowerCase()
    .replace(/^defaultaccount$/, "defaccount")
    .replace(/^description$/, "descr");
  const spelled = wanted
    .replace(/^organization$/, "org")
    .replace(/^adminlevel$/, "admin")
    .replace(/\s/g, "");
  const name =
    COLUMNS.find((column) => column.toLowerCase() === spelled) ??
    COLUMNS.find((column) => column.toLowerCase().startsWith(spelled)) ??
    (spelled === "defqos" ? "DefaultQOS" : undefined);
  if (name === undefined) throw slurmError("sacctmgr", `Unknown field '${text}'`);
  const key = name.toLowerCase();
  const wide = width !== undefined && /^-?\d{1,4}$/.test(width) ? Number(width) : (WIDTHS[key] ?? 10);
  return { name, width: Math.abs(wide), ...(wide < 0 ? { left: true } : {}), value: (row) => row[key] ?? "" };
}

const limitText = (value: number | undefined): string => (value === undefined ? "" : `${value}`);

/** Every user may submit to each tenant that it sees; the caller comes first. */
async function associations(context: SlurmContext): Promise<readonly Row[]> {
  const { client, compat, user } = context;
  const { tenants } = await client.tenants.list();
  const own = compat.accountOf(context.tenant ?? "default");
  const sorted = tenants.toSorted(
    (a, b) => Number(compat.accountOf(b.id) === own) - Number(compat.accountOf(a.id) === own),
  );
  return sorted.map(({ id, quota }) => ({
    user,
    defaccount: own,
    admin: "None",
    cluster: "lattice",
    account: compat.accountOf(id),
    partition: "",
    share: "1",
    fairshare: "1",
    maxjobs: limitText(quota?.max_concurrent_allocations),
    maxnodes: limitText(quota?.max_nodes),
    qos: Object.keys(compat.mapping.qos ?? DEFAULT_QOS_CLASSES).join(","),
    defaultqos: "normal",
  }));
}

async function accounts({ client, compat }: SlurmContext): Promise<readonly Row[]> {
  const { tenants } = await client.tenants.list();
  return tenants.map(({ id, description }) => ({
    account: compat.accountOf(id),
    descr: description ?? "",
    org: compat.accountOf(id),
    cluster: "lattice",
  }));
}

async function qosRows({ compat }: SlurmContext): Promise<readonly Row[]> {
  return Object.entries(compat.mapping.qos ?? DEFAULT_QOS_CLASSES).map(([name, value]) => ({
    name,
    priority: `${value}`,
    gracetime: "00:00:00",
    preemptmode: "cluster",
    usagefactor: "1.000000",
  }));
}

async function clusters({ client }: SlurmContext): Promise<readonly Row[]> {
  const { hostname, port } = new URL(client.url);
  return [{ cluster: "lattice", controlhost: hostname, controlport: port, rpc: "0", share: "1", defaultqos: "normal" }];
}
