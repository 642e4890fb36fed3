// Network domains: named groups of allocations of one tenant that can reach each other. Each has a number of its own from the
// fabric's pool (VNI), is made when the first allocation that names it is placed, and outlives the last by its grace.

import type { Duration, Instant, TenantId } from "../ids.ts";
import { duration } from "../ids.ts";

export interface Domain {
  /** "tenant/name": two tenants may use one name. */
  readonly key: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly vni: number;
  readonly createdAt: Instant;
  readonly grace: Duration;
  /** Of one allocation alone, which did not name it. */
  readonly private: boolean;
  /** Allocations that are placed in it. */
  readonly members: number;
  /** Since when it has none; null while it has some. */
  readonly emptySince: Instant | null;
}

export interface NetworkSettings {
  readonly vniStart: number;
  /** The last one. */
  readonly vniEnd: number;
  /** Named ones. */
  readonly maxDomainsPerTenant: number;
  readonly grace: Duration;
  /** Allocations on several nodes, and those that expose ports, get a domain of their own. */
  readonly autoDomains: boolean;
}

export const DEFAULT_NETWORK: NetworkSettings = {
  vniStart: 1_000,
  vniEnd: 4_095,
  maxDomainsPerTenant: 50,
  grace: duration(300_000),
  autoDomains: false,
};

/** 1 to 999 belong to the fabric itself; 24 bits is what overlay networks offer. */
export const FIRST_VNI = 1_000;
export const LAST_VNI = 16_777_215;
export const MAX_DOMAIN_GRACE_MS = 7 * 24 * 3600 * 1000;

export const domainKey = (tenant: TenantId, name: string): string => `${tenant}/${name}`;
export const poolSize = ({ vniStart, vniEnd }: NetworkSettings): number => vniEnd - vniStart + 1;
