// `sshare`: the shares of accounts, which are tenants, and what they and their users have used, by the ledger. Usage is
// in seconds of nodes; the factor is the one that orders the queue: how much of its share an account has left.

import type { Tenant, Usage } from "@lattice/sdk";
import type { SlurmCommand } from "./command.ts";
import { type Desk, print } from "./desk.ts";
import { chosenFields, printRecords, type RecordField } from "./record-table.ts";
import { type Grammar, has, listOf, readWords, type Words } from "./words.ts";

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
  /** Of the account as a whole when empty. */
  readonly user: string;
  /** Thousandths. */
  readonly raw: number;
  readonly norm: number;
  readonly seconds: number;
  /** Of all that was used. */
  readonly used: number;
}

const field = (name: string, width: number, value: RecordField<Share>["value"]): RecordField<Share> => ({
  name,
  width,
  value,
});
/** Empty for users, who have no share of their own. */
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
const USUAL = ["Account", "User", "RawShares", "NormShares", "RawUsage", "EffectvUsage", "FairShare"];
const LONG = ["Account", "User", "RawShares", "NormShares", "RawUsage", "NormUsage", "EffectvUsage", "FairShare"];

/** 1: nothing of it is used; 0: all of it, or more. */
const factor = (share: number, used: number): number => (share <= 0 ? 0 : Math.max(0, Math.min(1, 1 - used / share)));

export const command: SlurmCommand = {
  help: "Usage: sshare [-n] [-a] [-A ACCOUNT,...] [-u USER,...] [-U] [-l] [-p|-P] [-o FIELD[%WIDTH],...]",
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    if (has(words, "helpformat")) return print(FIELDS.map(({ name }) => name).join(" ")) ?? 0;
    const fields = chosenFields("sshare", words, FIELDS, has(words, "long") ? LONG : USUAL);
    printRecords(words, fields, await sharesOf(desk, words));
    return 0;
  },
};

async function sharesOf(desk: Desk, words: Words): Promise<readonly Share[]> {
  const tenants = await allTenants(desk);
  const shareOf = ({ quota }: Tenant): number => quota?.fair_share_target || 1 / tenants.length;
  const sum = tenants.reduce((all, tenant) => all + shareOf(tenant), 0);
  const asked = listOf(words, "accounts")?.map(desk.compat.tenantOf);
  const shares: Share[] = [];
  for (const tenant of tenants.filter(({ id }) => asked?.includes(id) ?? true)) {
    const usage = await desk.client.usage.tenant(tenant.id);
    const account = desk.compat.accountOf(tenant.id);
    const own = { account, raw: Math.round(shareOf(tenant) * 1000), norm: shareOf(tenant) / sum };
    if (!has(words, "Users")) shares.push({ ...own, user: "", seconds: secondsOf(usage), used: usage.share ?? 0 });
    shares.push(...usersOf(desk, words, usage).map((one) => ({ ...own, ...one })));
  }
  return shares;
}

const secondsOf = ({ node_hours: hours = 0 }: { readonly node_hours?: number }): number => hours * 3600;

/** The caller, those named, or all of them. */
function usersOf(desk: Desk, words: Words, usage: Usage): readonly Pick<Share, "user" | "seconds" | "used">[] {
  const named = listOf(words, "users") ?? [desk.user];
  const whole = secondsOf(usage);
  return (usage.by_user ?? [])
    .filter(({ user }) => has(words, "all") || named.includes(user))
    .map((one) => ({
      user: one.user,
      seconds: secondsOf(one),
      used: whole === 0 ? 0 : (secondsOf(one) / whole) * (usage.share ?? 0),
    }));
}

async function allTenants({ client }: Desk): Promise<readonly Tenant[]> {
  const found: Tenant[] = [];
  for (let token = ""; ; ) {
    const page = await client.tenants.list(token === "" ? {} : { page_token: token });
    found.push(...(page.tenants ?? []));
    token = page.next_page_token ?? "";
    if (token === "") return found;
  }
}
