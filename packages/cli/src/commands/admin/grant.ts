// `lattice admin grant`: roles of users in tenants that the cluster stores, in addition to the roles in tokens.

import { randomUUID } from "node:crypto";
import type { Grant } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { globalFlags } from "../../global-options.ts";
import type { Column } from "../../output/table.ts";
import { localTime } from "../../output/time.ts";

interface GrantFlags {
  readonly user?: string;
  readonly role?: string;
}

const PAGE = 500;

export function defineGrant(command: Command): void {
  const add = named(command.command("add").description("Grant a user a role in a tenant (--tenant)"));
  add.action(async (user: string, role: string) => {
    const { client, print, settings } = await createContext(add);
    const { grant } = await client.grants.add(
      { tenant: settings.tenant ?? "default", user, role },
      { requestId: randomUUID() },
    );
    if (print.structured) return print.document(grant);
    print.done(grant.user, `${grant.user} is ${grant.role} of ${grant.tenant}`);
  });

  const remove = named(command.command("remove").alias("rm").description("Revoke a role in a tenant"));
  remove.action(async (user: string, role: string) => {
    const { client, print, settings } = await createContext(remove);
    const { grant } = await client.grants.remove({
      tenant: settings.tenant ?? "default",
      user,
      role: underscored(role),
    });
    if (print.structured) return print.document(grant);
    print.done(grant.user, `${grant.user} is no longer ${grant.role} of ${grant.tenant}`);
  });

  const list = command.command("list").description("List grants");
  list.option("--user <name>", "only this user");
  list.action(async (flags: GrantFlags) => {
    const { client, print, settings } = await createContext(list);
    const rows: Grant[] = [];
    const filter = { tenant: globalFlags(list).tenant, user: flags.user, page_size: PAGE };
    let token: string | undefined;
    do {
      const page = await client.grants.list(token === undefined ? filter : { ...filter, page_token: token });
      rows.push(...(page.grants ?? []));
      token = page.next_page_token === "" ? undefined : page.next_page_token;
    } while (token !== undefined);
    if (print.structured) return print.document({ grants: rows });
    if (settings.quiet) return print.lines(rows.map(({ user }) => user));
    print.table(columns, rows);
  });
}

const named = (command: Command): Command =>
  command.argument("<user>", "user name").argument("<role>", "tenant_admin or claiming_user");

const underscored = (role: string): string => role.replaceAll("-", "_");

const columns: readonly Column<Grant>[] = [
  { header: "TENANT", value: ({ tenant }) => tenant },
  { header: "USER", value: ({ user }) => user },
  { header: "ROLE", value: ({ role }) => role },
  { header: "BY", value: ({ granted_by }) => granted_by ?? "" },
  { header: "SINCE", value: ({ granted_at }) => localTime(granted_at), flexible: true },
];
