// network.release: removes a network domain after its grace period; its VNI is free again.

import { after } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, unchanged } from "../../base/outcome.ts";

import { noticeKey } from "../../model/notice/notice.ts";
import { nodesStillInDomains } from "../../queries/lingering-domains.ts";
import { freeVni } from "../../queries/network-domain.ts";
import { clearNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

/** Removes a domain that has had no members for its grace period. */
export interface ReleaseDomainCommand {
  readonly kind: "network.release";
  readonly key: string;
}

export function releaseDomain(step: Step, { key }: ReleaseDomainCommand): Outcome {
  const domain = step.state.domain(key);
  if (domain === undefined) return unchanged(key);
  if (domain.emptySince === null || step.at < after(domain.emptySince, domain.grace)) {
    return refuse("stale_report", `network domain "${domain.name}" is in use, or was not long ago`);
  }
  if (nodesStillInDomains(step.state).has(key)) {
    return refuse("stale_report", `work that was in network domain "${domain.name}" has not ended on all nodes`);
  }
  if (step.state.network.managed === true && (domain.fabric?.nodes.length ?? 0) > 0) {
    return refuse("stale_report", `the fabric has network domain "${domain.name}" yet`);
  }
  step.state.tables.domains.delete(key);
  // A VNI outside the pool, from before the pool changed, frees no place in it.
  if (freeVni(step.state) !== null) {
    clearNotice(step, noticeKey("vni_pool_exhausted", "cluster"));
  }
  return accepted(key);
}
