// network.set: stores the VNI pool of the cluster and its limits, from the configuration of the leader.

import { canonical } from "../../base/canonical.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { isCount, problemList } from "../../model/checks.ts";
import type { NetworkSettings } from "../../model/network/domain.ts";
import { FIRST_VNI, LAST_VNI } from "../../model/network/domain.ts";
import { GATEWAY_FORM, parseGateway } from "../../model/network/gateway.ts";
import type { Step } from "../../transitions/step.ts";

/** The VNI pool and its limits, from configuration. */
export interface SetNetworkCommand {
  readonly kind: "network.set";
  readonly settings: NetworkSettings;
}

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
