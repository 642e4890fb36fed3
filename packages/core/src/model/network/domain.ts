// Network domains: named groups of allocations of one tenant that can reach each other. Each has a VNI from the
// fabric's pool, is created with its first placed member and outlives the last one by its grace. A sensitive allocation
// has its own domain, from which only the data gateway can be reached.

import type { Duration, Instant, NodeId, TenantId } from "../../base/ids.ts";
import { duration } from "../../base/ids.ts";

export interface Domain {
  /** "tenant/name": two tenants may use one name. */
  readonly key: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly vni: number;
  readonly createdAt: Instant;
  readonly grace: Duration;
  /** A private domain of one allocation, without a user-given name. */
  readonly private: boolean;
  /** Allocations that are placed in it. */
  readonly members: number;
  /** The time since which it has no members; null while it has some. */
  readonly emptySince: Instant | null;
  /** For a sensitive allocation. Default: false. */
  readonly sensitive?: true;
  /** The state that the fabric manager received. Missing before the first message, and without a manager. */
  readonly fabric?: FabricState;
}

/** Nodes may use the number on the fabric once the manager has confirmed them. */
interface FabricState {
  /** In order. */
  readonly nodes: readonly NodeId[];
  /** The last error of the fabric manager. Missing when there is none. */
  readonly problem?: string;
  readonly since: Instant;
}

/** The network of a placed allocation. */
export interface OwnNetwork {
  readonly domain: string;
  readonly vni: number;
  readonly sensitive?: true;
  /** The only outside address that a sensitive domain reaches, "address:port". Default: none. */
  readonly gateway?: string;
}

export interface NetworkSettings {
  readonly vniStart: number;
  /** The last VNI of the pool. */
  readonly vniEnd: number;
  /** Limit of named domains per tenant. */
  readonly maxDomainsPerTenant: number;
  readonly grace: Duration;
  /** Allocations on several nodes, and allocations that expose ports, get a domain of their own. */
  readonly autoDomains: boolean;
  /** A fabric manager must confirm the nodes of a domain before work starts. Default: false. */
  readonly managed?: true;
  /** The gateway through which sensitive data enters and leaves, "address:port". Default: none. */
  readonly dataGateway?: string;
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
