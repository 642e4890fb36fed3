// Network domains: the pool of numbers that the fabric gives to Lattice, its limits, who keeps domains apart on the fabric, and where
// sensitive data goes in and out.

import { FIRST_VNI, GATEWAY_FORM, LAST_VNI, type NetworkSettings, parseGateway, seconds } from "@lattice/core";
import { z } from "zod";
import { count, section, span } from "./fields.ts";

export const networkSection = section({
  vni_pool_start: count(FIRST_VNI, LAST_VNI).default(FIRST_VNI),
  vni_pool_end: count(FIRST_VNI, LAST_VNI).default(4_095),
  max_domains_per_tenant: count(1, 1_000_000).default(50),
  grace_period: span({ least: seconds(0), most: seconds(7 * 86_400), preset: "5m" }),
  auto_domains: z.boolean().default(false),
  driver: z.enum(["none", "fabric_manager"], { error: "must be none or fabric_manager" }).default("none"),
  data_gateway: z
    .string()
    .refine((text) => parseGateway(text) !== null, GATEWAY_FORM)
    .optional(),
});

type ParsedNetwork = z.output<typeof networkSection>;

export function networkProblems(
  network: ParsedNetwork,
  managerUrl: string | undefined,
): readonly { readonly path: string[]; readonly message: string }[] {
  const problems: { path: string[]; message: string }[] = [];
  if (network.vni_pool_end < network.vni_pool_start)
    problems.push({ path: ["vni_pool_end"], message: "must not be below network.vni_pool_start" });
  if (network.driver === "fabric_manager" && managerUrl === undefined)
    problems.push({ path: ["driver"], message: "needs fabric.manager_url" });
  return problems;
}

export const completeNetwork = (network: ParsedNetwork): NetworkSettings => ({
  vniStart: network.vni_pool_start,
  vniEnd: network.vni_pool_end,
  maxDomainsPerTenant: network.max_domains_per_tenant,
  grace: network.grace_period,
  autoDomains: network.auto_domains,
  ...(network.driver === "fabric_manager" ? { managed: true } : {}),
  ...(network.data_gateway === undefined ? {} : { dataGateway: network.data_gateway }),
});
