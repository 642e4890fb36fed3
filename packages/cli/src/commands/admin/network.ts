// `lattice admin network`: network domains and their grace period after the last member has ended.

import type { NetworkDomain } from "@lattice/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { createContext } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

export function defineNetwork(command: Command): void {
  const list = command.command("list").description("List network domains and the use of the VNI pool");
  list.option("--of <tenant>", "only this tenant").action(async (flags: { readonly of?: string }) => {
    const { client, print, settings } = await createContext(list);
    const answer = await client.networks.list(flags.of === undefined ? {} : { tenant: flags.of });
    if (print.structured) return print.document(answer);
    const domains = answer.domains ?? [];
    if (settings.quiet) return print.lines(domains.map(({ tenant, name }) => `${tenant}/${name}`));
    print.table(columns, domains);
    const { vnis_used = 0, vni_pool_start = 0, vni_pool_end = 0 } = answer;
    print.note(`${vnis_used} of ${vni_pool_end - vni_pool_start + 1} VNIs are in use.`);
  });
  const grace = command.command("set-grace").description("Set how long a domain is kept after its last member ends");
  grace
    .requiredOption("--domain <name>", "network domain")
    .requiredOption("--grace <time>", "grace period, for example 15m", parseGrace)
    .option("--of <tenant>", "tenant of the domain (default: your own)")
    .action(async (flags: { readonly domain: string; readonly grace: number; readonly of?: string }) => {
      const { client, print } = await createContext(grace);
      const of = flags.of === undefined ? {} : { tenant: flags.of };
      const domain = await client.networks.setGrace(flags.domain, flags.grace, of);
      if (print.structured) return print.document(domain);
      print.done(domain.name, lineOf(domain));
    });
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

function parseGrace(text: string): number {
  const match = /^(\d{1,7})([smh])$/.exec(text);
  if (match === null) throw new InvalidArgumentError("Write a number with a unit, for example 90s, 15m or 2h.");
  return Number(match[1]) * (UNITS[match[2] ?? "s"] ?? 1);
}

const columns: readonly Column<NetworkDomain>[] = [
  { header: "TENANT", value: ({ tenant }) => tenant ?? ABSENT },
  { header: "DOMAIN", value: ({ name }) => name ?? ABSENT, flexible: true },
  { header: "VNI", value: ({ vni }) => String(vni ?? 0), align: "right" },
  { header: "STATE", value: stateText },
  { header: "GRACE", value: ({ grace_seconds: grace = 0 }) => `${grace} s`, align: "right" },
  { header: "FABRIC", value: fabricText },
  { header: "ALLOCATIONS", value: ({ allocation_ids: ids = [] }) => ids.join(", ") || ABSENT, flexible: true },
];

function stateText({ state, released_at: at, sensitive = false }: NetworkDomain): string {
  const released = at === undefined ? "" : `, released ${localTime(at)}`;
  return `${state}${sensitive ? ", sensitive" : ""}${released}`;
}

function fabricText({ fabric, fabric_problem: problem = "" }: NetworkDomain): string {
  return fabric === undefined ? ABSENT : `${fabric}${problem === "" ? "" : ` (${problem})`}`;
}

function lineOf({
  tenant,
  name,
  vni,
  state,
  allocation_ids = [],
  grace_seconds = 0,
  released_at,
  sensitive = false,
  fabric,
  fabric_problem: problem = "",
}: NetworkDomain): string {
  const until = released_at === undefined ? "" : `, released ${localTime(released_at)}`;
  const who = allocation_ids.length === 0 ? "no allocations" : allocation_ids.join(", ");
  const kept = fabric === undefined ? "" : `  fabric ${fabric}${problem === "" ? "" : ` (${problem})`}`;
  const alone = sensitive ? "  sensitive" : "";
  return `${tenant}/${name}  VNI ${vni}  ${state}${until}  grace ${grace_seconds} s${alone}${kept}  ${who}`;
}
