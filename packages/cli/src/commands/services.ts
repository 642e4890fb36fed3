// `lattice services`: the named ports that running allocations expose, and their endpoints.

import type { ServiceEndpoint, ServiceSummary } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import type { Column } from "../output/table.ts";
import { ABSENT } from "../output/text.ts";

export function define(command: Command): void {
  command.argument("[name]", "service whose endpoints to show").action(async (name: string | undefined) => {
    const context = await createContext(command);
    return name === undefined ? showAll(context) : showOne(context, name);
  });
}

async function showAll({ client, print, settings }: Context): Promise<void> {
  const { services = [] } = await client.services.list(tenantOf(settings.tenant));
  if (print.structured) return print.document({ services });
  if (settings.quiet) return print.lines(services.map(({ name }) => name));
  print.table(summaries, services);
  if (services.length === 0) print.note("No running allocation exposes a service.");
}

async function showOne({ client, print, settings }: Context, name: string): Promise<void> {
  const found = await client.services.get(name, tenantOf(settings.tenant));
  if (print.structured) return print.document(found);
  const endpoints = found.endpoints ?? [];
  if (settings.quiet) return print.lines(endpoints.map(({ address, port }) => `${address}:${port}`));
  print.table(places, endpoints);
  print.note(`Through the server: ${client.url}/api/v1/services/${encodeURIComponent(name)}/proxy/`);
}

const tenantOf = (tenant: string | undefined) => (tenant === undefined ? {} : { tenant });

const summaries: readonly Column<ServiceSummary>[] = [
  { header: "SERVICE", value: ({ name }) => name, flexible: true },
  { header: "TENANT", value: ({ tenant }) => tenant ?? ABSENT },
  { header: "ENDPOINTS", value: ({ endpoints }) => String(endpoints ?? 0), align: "right" },
];

const places: readonly Column<ServiceEndpoint>[] = [
  { header: "ALLOCATION", value: ({ allocation_id }) => allocation_id },
  { header: "TENANT", value: ({ tenant }) => tenant ?? ABSENT },
  { header: "NODE", value: ({ node }) => node ?? ABSENT, flexible: true },
  { header: "PROTOCOL", value: ({ protocol }) => protocol || ABSENT },
  { header: "ADDRESS", value: ({ address, port }) => `${address ?? ABSENT}:${port ?? 0}` },
];
