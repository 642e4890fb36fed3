// network.grace: an administrator sets how long one network domain outlives its last member.

import type { Duration, TenantId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, unchanged } from "../../base/outcome.ts";
import { isCount } from "../../model/checks.ts";
import { domainKey, MAX_DOMAIN_GRACE_MS } from "../../model/network/domain.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";

export interface SetDomainGraceCommand {
  readonly kind: "network.grace";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly name: string;
  readonly grace: Duration;
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
