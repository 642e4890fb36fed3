// An allocation that is placed joins its domain, which is made if it is not there; one whose attempt ends leaves it. The last to
// leave lets the domain wait out its grace; whoever joins meanwhile keeps it, and its number. A number goes back to the pool only when
// nothing is left on any node of those who had it: who gets it next must not meet them.

import type { Allocation } from "../allocation/allocation.ts";
import { duration } from "../ids.ts";
import { invariant, present } from "../invariant.ts";
import { noticeKey } from "../notice/notice.ts";
import { notify } from "../notice/raise.ts";
import type { Refusal } from "../outcome.ts";
import type { Step } from "../step.ts";
import { type Domain, domainKey } from "./domain.ts";
import { freeVni, wantedDomain, whyNoDomain } from "./wanted.ts";

/** Servers before know no domains. */
const NETWORK_VERSION = 2;

/** Why it cannot be placed on so many nodes for want of a domain; null: it can. */
export function againstDomain(step: Step, record: Allocation, placed: number): Refusal | null {
  const wanted = step.version < NETWORK_VERSION ? null : wantedDomain(step.state, record, placed);
  const refusal = wanted === null ? null : whyNoDomain(step.state, wanted);
  if (refusal !== null && freeVni(step.state) === null) {
    notify(step, {
      key: noticeKey("vni_pool_exhausted", "cluster"),
      kind: "vni_pool_exhausted",
      text: refusal.detail,
      tenant: null,
      user: null,
    });
  }
  return refusal;
}

/** What its record says of it while it is placed. */
export function joinDomain(step: Step, record: Allocation, placed: number): Pick<Allocation, "network"> {
  const wanted = step.version < NETWORK_VERSION ? null : wantedDomain(step.state, record, placed);
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
  invariant(vni !== null, "the pool was looked at before");
  return vni;
}

export function leaveDomain(step: Step, record: Allocation): void {
  if (record.network === undefined) return;
  const { state, at } = step;
  const key = domainKey(record.spec.tenant, record.network.domain);
  const domain = present(state.domain(key), `allocation ${record.id} is in a domain that is gone`);
  const members = domain.members - 1;
  // Nobody else can ever join what was one allocation's own; but its processes may not have ended yet, and a fabric must forget it.
  const over = members === 0 && domain.private && !state.network.managed && state.indexes.claimCount(record.id) === 0;
  if (over) state.tables.domains.delete(domain.key);
  else state.tables.domains.set(domain.key, { ...domain, members, emptySince: members === 0 ? at : null });
}
