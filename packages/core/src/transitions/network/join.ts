// A placed allocation joins its domain, which is created if it does not exist; at the end of its attempt it leaves. When
// the last member leaves, the domain waits out its grace; an allocation that joins meanwhile keeps it and its number. A
// number returns to the pool only when no node holds processes of its former members: the next domain must not meet them.

import { duration } from "../../base/ids.ts";
import { invariant, present } from "../../base/invariant.ts";
import type { Refusal } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { type Domain, domainKey } from "../../model/network/domain.ts";
import { noticeKey } from "../../model/notice/notice.ts";
import { domainRefusal, domainRequestOf, freeVni } from "../../queries/network-domain.ts";
import { raiseNotice } from "../notice/raise.ts";
import type { Step } from "../step.ts";

/** Returns why it cannot be placed on this many nodes for lack of a domain; `null` when it can. */
export function refuseWithoutDomain(step: Step, record: Allocation, placed: number): Refusal | null {
  const wanted = domainRequestOf(step.state, record, placed);
  const refusal = wanted === null ? null : domainRefusal(step.state, wanted);
  if (refusal !== null && freeVni(step.state) === null) {
    raiseNotice(step, {
      key: noticeKey("vni_pool_exhausted", "cluster"),
      kind: "vni_pool_exhausted",
      text: refusal.detail,
      tenant: null,
      user: null,
    });
  }
  return refusal;
}

/** Joins the domain, and returns the network part of the placed allocation's record. */
export function joinDomain(step: Step, record: Allocation, placed: number): Pick<Allocation, "network"> {
  const wanted = domainRequestOf(step.state, record, placed);
  if (wanted === null) return {};
  const { state, at } = step;
  const known = state.domain(wanted.key);
  const domain: Domain = known ?? {
    ...wanted,
    vni: nextVni(step),
    createdAt: at,
    grace: wanted.private ? duration(0) : state.network.grace,
    members: 0,
    emptySince: null,
  };
  state.tables.domains.set(domain.key, { ...domain, members: domain.members + 1, emptySince: null });
  const { name, vni, sensitive } = domain;
  const { dataGateway: gateway } = state.network;
  const guarded = sensitive === true ? { sensitive, ...(gateway === undefined ? {} : { gateway }) } : {};
  return { network: { domain: name, vni, ...guarded } };
}

function nextVni({ state }: Step): number {
  const vni = freeVni(state);
  invariant(vni !== null, "the pool was checked before");
  return vni;
}

export function leaveDomain(step: Step, record: Allocation): void {
  if (record.network === undefined) return;
  const { state, at } = step;
  const key = domainKey(record.spec.tenant, record.network.domain);
  const domain = present(state.domain(key), `allocation ${record.id} is in an unknown domain`);
  const members = domain.members - 1;
  // No other allocation can join a private domain; but its processes may still run, and a fabric manager must delete it.
  const over = members === 0 && domain.private && !state.network.managed && state.indexes.claimCount(record.id) === 0;
  if (over) state.tables.domains.delete(domain.key);
  else state.tables.domains.set(domain.key, { ...domain, members, emptySince: members === 0 ? at : null });
}
