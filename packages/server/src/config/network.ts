// Network domains: the pool of numbers that the fabric gives to Lattice, and its limits.

import { FIRST_VNI, LAST_VNI, type NetworkSettings, seconds } from "@lattice/core";
import { z } from "zod";
import { count, section, span } from "./fields.ts";

export const networkSection = section({
  vni_pool_start: count(FIRST_VNI, LAST_VNI).default(FIRST_VNI),
  vni_pool_end: count(FIRST_VNI, LAST_VNI).default(4_095),
  max_domains_per_tenant: count(1, 1_000_000).default(50),
  grace_period: span({ least: seconds(0), most: seconds(7 * 86_400), preset: "5m" }),
  auto_domains: z.boolean().default(false),
});

type ParsedNetwork = z.output<typeof networkSection>;

export const networkProblems = (
  network: ParsedNetwork,
): readonly { readonly path: string[]; readonly message: string }[] =>
  network.vni_pool_end >= network.vni_pool_start
    ? []
    : [{ path: ["vni_pool_end"], message: "must not be below network.vni_pool_start" }];

export const completeNetwork = (network: ParsedNetwork): NetworkSettings => ({
  vniStart: network.vni_pool_start,
  vniEnd: network.vni_pool_end,
  maxDomainsPerTenant: network.max_domains_per_tenant,
  grace: network.grace_period,
  autoDomains: network.auto_domains,
});
