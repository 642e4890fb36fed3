// What is set for networks: the pool of the cluster and its limits, from the configuration of the leader; and the grace of one domain,
// by an administrator. A domain that has waited out its grace is released, and its number is free again.

import { isCount, problemList } from "../allocation/check-values.ts";
import { canonical } from "../canonical.ts";
import type { ReleaseDomainCommand, SetDomainGraceCommand, SetNetworkCommand } from "../command.ts";
import { after } from "../ids.ts";
import { noticeKey } from "../notice/notice.ts";
import { clearNotice } from "../notice/raise.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { domainKey, FIRST_VNI, LAST_VNI, MAX_DOMAIN_GRACE_MS } from "./domain.ts";
import { GATEWAY_FORM, parseGateway } from "./gateway.ts";
import { lingeringIn } from "./lingering.ts";
import { freeVni } from "./wanted.ts";

export function setNetwork(step: Step, { settings }: SetNetworkCommand): Outcome {
  const problems = problemList();
  const { vniStart, vniEnd } = settings;
  const range = isCount(vniStart, FIRST_VNI, LAST_VNI) && isCount(vniEnd, vniStart, LAST_VNI);
  problems.unless(range, "network.vni_pool", `must lie between ${FIRST_VNI} and ${LAST_VNI}`);
  const { dataGateway } = settings;
  const gateway = dataGateway === undefined || parseGateway(dataGateway) !== null;
  problems.unless(gateway, "network.data_gateway", GATEWAY_FORM);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (canonical(step.state.network) === canonical(settings)) return unchanged(null);
  step.state.tables.network.set("settings", settings);
  return accepted(null);
}

export function setDomainGrace(step: Step, { tenant, name, grace }: SetDomainGraceCommand): Outcome {
  const domain = step.state.domain(domainKey(tenant, name));
  if (domain === undefined) return refuse("unknown_domain", `tenant "${tenant}" has no network domain ${quote(name)}`);
  if (!isCount(grace, 0, MAX_DOMAIN_GRACE_MS)) {
    return refuseFields([{ field: "grace_seconds", detail: "must be at most a week" }]);
  }
  if (domain.grace === grace) return unchanged(domain.key);
  step.state.tables.domains.set(domain.key, { ...domain, grace });
  return accepted(domain.key);
}

export function releaseDomain(step: Step, { key }: ReleaseDomainCommand): Outcome {
  const domain = step.state.domain(key);
  if (domain === undefined) return unchanged(key);
  if (domain.emptySince === null || step.at < after(domain.emptySince, domain.grace)) {
    return refuse("stale_report", `network domain "${domain.name}" is in use, or was not long ago`);
  }
  if (lingeringIn(step.state).has(key)) {
    return refuse("stale_report", `work that was in network domain "${domain.name}" has not ended on all nodes`);
  }
  if (step.state.network.managed === true && (domain.fabric?.nodes.length ?? 0) > 0) {
    return refuse("stale_report", `the fabric has network domain "${domain.name}" yet`);
  }
  step.state.tables.domains.delete(key);
  // A number outside of the pool, from before it was set anew, makes no room in it.
  if (freeVni(step.state) !== null) {
    clearNotice(step, { kind: "notice.clear", key: noticeKey("vni_pool_exhausted", "cluster") });
  }
  return accepted(key);
}
