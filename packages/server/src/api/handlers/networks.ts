// Network domains: lists them with their members, and sets how long they outlive their last member.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  after,
  type Domain,
  domainKey,
  isPlaced,
  parseTenantId,
  seconds,
  type TenantId,
  type View,
} from "@lattice/core";
import { ProblemError, pb, timestampFromMs } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import { authorize, authorizeList, reaches, type Target } from "../access/authorize.ts";
import type { Call } from "../call/call.ts";
import { commit, originOf } from "./commit.ts";

export async function listDomains(call: Call, request: pb.ListDomainsRequest): Promise<pb.ListDomainsResponse> {
  authorizeList(call.principal, "NetworkService.ListDomains");
  const view = call.plane.view();
  const all = [...view.domains()];
  const members = membersOf(view);
  const shown = all.filter(
    (domain) =>
      (request.tenant === "" || domain.tenant === request.tenant) &&
      reaches(call.principal, "NetworkService.ListDomains", { tenant: domain.tenant, user: null }) &&
      isVisible(call, domain, members),
  );
  const { vniStart, vniEnd, maxDomainsPerTenant } = view.network;
  return create(pb.ListDomainsResponseSchema, {
    domains: shown.map((domain) => toProto(call, domain, members)),
    vniPoolStart: vniStart,
    vniPoolEnd: vniEnd,
    vnisUsed: all.length,
    maxDomainsPerTenant,
    logIndex: String(view.index),
  });
}

export async function getDomain(call: Call, request: pb.GetDomainRequest): Promise<pb.NetworkDomain> {
  const tenant = tenantOf(call, request.tenant);
  authorize(call.principal, "NetworkService.GetDomain", { tenant, user: null });
  const domain = find(call, tenant, request.name);
  const members = membersOf(call.plane.view());
  if (domain.private) authorize(call.principal, "AllocationService.Get", ownerIn(domain, members));
  return toProto(call, domain, members);
}

export async function setDomainGrace(call: Call, request: pb.SetDomainGraceRequest): Promise<pb.NetworkDomain> {
  const tenant = tenantOf(call, request.tenant);
  authorize(call.principal, "NetworkService.SetDomainGrace", { tenant, user: null });
  const { name } = find(call, tenant, request.name);
  const origin = originOf(call, pb.SetDomainGraceRequestSchema, request);
  await commit(call, { kind: "network.grace", origin, tenant, name, grace: seconds(request.graceSeconds) });
  return toProto(call, find(call, tenant, name));
}

function tenantOf(call: Call, named: string): TenantId {
  const tenant = parseTenantId(named === "" ? (call.principal.tenant ?? "default") : named);
  if (tenant === null) throw invalid("tenant", "is not a name for a tenant");
  return tenant;
}

function find(call: Call, tenant: TenantId, name: string): Domain {
  const domain = call.plane.view().domain(domainKey(tenant, name));
  if (domain !== undefined) return domain;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new ProblemError("unknown_domain", { detail: `Tenant ${tenant} has no network domain ${shown}.` });
}

type Members = ReadonlyMap<string, readonly Allocation[]>;

/** Placed allocations by the key of their domain. */
function membersOf(view: View): Members {
  const members = new Map<string, Allocation[]>();
  for (const record of view.placed()) {
    if (record.network === undefined) continue;
    const key = domainKey(record.spec.tenant, record.network.domain);
    const of = members.get(key) ?? [];
    members.set(key, of);
    of.push(record);
  }
  return members;
}

/** A private domain is visible to callers who may see its allocation. */
const isVisible = ({ principal }: Call, domain: Domain, members: Members): boolean =>
  !domain.private || reaches(principal, "AllocationService.Get", ownerIn(domain, members));

const ownerIn = ({ key, tenant }: Domain, members: Members): Target => ({
  tenant,
  user: members.get(key)?.[0]?.user ?? null,
});

/** Ready: all nodes of its members are confirmed. */
function fabricOf(call: Call, { fabric }: Domain, members: readonly Allocation[]): string {
  if (call.plane.view().network.managed !== true) return "";
  const confirmed = new Set(fabric?.nodes);
  const missing = members.some(({ phase }) => isPlaced(phase) && phase.nodes.some((node) => !confirmed.has(node)));
  return missing || fabric?.problem !== undefined ? "waiting" : "ready";
}

function toProto(call: Call, domain: Domain, all: Members = membersOf(call.plane.view())): pb.NetworkDomain {
  const members = all.get(domain.key) ?? [];
  return create(pb.NetworkDomainSchema, {
    tenant: domain.tenant,
    name: domain.name,
    vni: domain.vni,
    state: domain.emptySince === null ? "active" : "draining",
    allocationIds: members.map(({ id }) => id),
    graceSeconds: Math.round(domain.grace / 1000),
    createdAt: timestampFromMs(domain.createdAt),
    private: domain.private,
    sensitive: domain.sensitive === true,
    fabricProblem: domain.fabric?.problem ?? "",
    fabric: fabricOf(call, domain, members),
    ...(domain.emptySince === null ? {} : { releasedAt: timestampFromMs(after(domain.emptySince, domain.grace)) }),
  });
}
