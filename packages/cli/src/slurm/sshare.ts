// `sshare`: the fair shares of accounts (tenants), and the usage of accounts and users by the ledger. Usage is in
// node-seconds. The FairShare column is the factor that orders the queue: the unused fraction of the share.

import type { Tenant, Usage } from "@lattice/sdk";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, listOf, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { print, type SlurmContext } from "./context.ts";
import { chosenFields, printRecords, type RecordField } from "./record-table.ts";

const GRAMMAR: Grammar = {
  program: "sshare",
  rules: [
    { long: "noheader", short: "n" },
    { long: "all", short: "a" },
    { long: "accounts", short: "A", value: "required" },
    { long: "users", short: "u", value: "required" },
    { long: "user", value: "required", as: "users" },
    { long: "Users", short: "U" },
    { long: "format", short: "o", value: "required" },
    { long: "helpformat", short: "e" },
    { long: "long", short: "l" },
    { long: "parsable", short: "p" },
    { long: "parsable2", short: "P" },
    { long: "verbose", short: "v" },
  ],
};

interface Share {
  readonly account: string;
  /** Empty for the account as a whole. */
  readonly user: string;
  /** In thousandths. */
  readonly raw: number;
  readonly norm: number;
  readonly seconds: number;
  /** Fraction of the cluster's usage. */
  readonly used: number;
}

const field = (name: string, width: number, value: RecordField<Share>["value"]): RecordField<Share> => ({
  name,
  width,
  value,
});
/** Users have no share, so their cell is empty. */
const ofAccount =
  (of: (share: Share) => string) =>
  (share: Share): string =>
    share.user === "" ? of(share) : "";

const FIELDS: readonly RecordField<Share>[] = [
  { ...field("Account", 20, ({ account, user }) => (user === "" ? account : ` ${account}`)), left: true },
  field("User", 10, ({ user }) => user),
  field("RawShares", 10, ({ user, raw }) => (user === "" ? `${raw}` : "parent")),
  field(
    "NormShares",
    11,
    ofAccount(({ norm }) => norm.toFixed(6)),
  ),
  field("RawUsage", 11, ({ seconds }) => `${Math.round(seconds)}`),
  field("NormUsage", 11, ({ used }) => used.toFixed(6)),
  field("EffectvUsage", 13, ({ used }) => used.toFixed(6)),
  field(
    "FairShare",
    10,
    ofAccount(({ norm, used }) => factor(norm, used).toFixed(6)),
  ),
  field("Cluster", 10, () => "lattice"),
];
const DEFAULT = ["Account", "User", "RawShares", "NormShares", "RawUsage", "EffectvUsage", "FairShare"];
const LONG = ["Account", "User", "RawShares", "NormShares", "RawUsage", "NormUsage", "EffectvUsage", "FairShare"];

/** Returns 1 for an unused share and 0 for one that is used up. */
const factor = (share: number, used: number): number => (share <= 0 ? 0 : Math.max(0, Math.min(1, 1 - used / share)));

export const command: SlurmCommand = {
  help: "Usage: sshare [-n] [-a] [-A ACCOUNT,...] [-u USER,...] [-U] [-l] [-p|-P] [-o FIELD[%WIDTH],...]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    if (has(words, "helpformat")) return print(FIELDS.map(({ name }) => name).join(" ")) ?? 0;
    const fields = chosenFields("sshare", words, FIELDS, has(words, "long") ? LONG : DEFAULT);
    printRecords(words, fields, await sharesOf(context, words));
    return 0;
  },
};

async function sharesOf(context: SlurmContext, words: SlurmCommandLine): Promise<readonly Share[]> {
  const tenants = await allTenants(context);
  const shareOf = ({ quota }: Tenant): number => quota?.fair_share_target || 1 / tenants.length;
  const sum = tenants.reduce((all, tenant) => all + shareOf(tenant), 0);
  const selected = listOf(words, "accounts")?.map(context.compat.tenantOf);
  const shares: Share[] = [];
  for (const tenant of tenants.filter(({ id }) => selected?.includes(id) ?? true)) {
    const usage = await context.client.usage.tenant(tenant.id);
    const account = context.compat.accountOf(tenant.id);
    const own = { account, raw: Math.round(shareOf(tenant) * 1000), norm: shareOf(tenant) / sum };
    if (!has(words, "Users")) shares.push({ ...own, user: "", seconds: secondsOf(usage), used: usage.share ?? 0 });
    shares.push(...usersOf(context, words, usage).map((one) => ({ ...own, ...one })));
  }
  return shares;
}

const secondsOf = ({ node_hours: hours = 0 }: { readonly node_hours?: number }): number => hours * 3600;

/** Returns the caller, the users of -u, or all users with -a. */
function usersOf(
  context: SlurmContext,
  words: SlurmCommandLine,
  usage: Usage,
): readonly Pick<Share, "user" | "seconds" | "used">[] {
  const named = listOf(words, "users") ?? [context.user];
  const whole = secondsOf(usage);
  return (usage.by_user ?? [])
    .filter(({ user }) => has(words, "all") || named.includes(user))
    .map((one) => ({
      user: one.user,
      seconds: secondsOf(one),
      used: whole === 0 ? 0 : (secondsOf(one) / whole) * (usage.share ?? 0),
    }));
}

async function allTenants({ client }: SlurmContext): Promise<readonly Tenant[]> {
  const found: Tenant[] = [];
  for (let token = ""; ; ) {
    const page = await client.tenants.list(token === "" ? {} : { page_token: token });
    found.push(...(page.tenants ?? []));
    token = page.next_page_token ?? "";
    if (token === "") return found;
  }
}
