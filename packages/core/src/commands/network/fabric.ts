// The state of a domain as the fabric manager confirmed it, or the manager's error. Allocations start on confirmed nodes
// only. While the manager is unavailable, allocations that need it wait with a recorded reason; all others continue.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, refuseFields, unchanged } from "../../base/outcome.ts";

import type { Allocation } from "../../model/allocation/allocation.ts";
import { attemptOn } from "../../model/allocation/node-attempts.ts";
import { isPlaced } from "../../model/allocation/phase.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import { isText } from "../../model/checks.ts";
import type { Domain } from "../../model/network/domain.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../../model/notice/notice.ts";
import { mayUseFabric } from "../../queries/network-domain.ts";
import type { View } from "../../state/view.ts";
import { clearNotice, raiseNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

/** The nodes of a domain that the fabric manager confirmed, or the error of the request. */
export interface SetDomainFabricCommand {
  readonly kind: "network.fabric";
  readonly key: string;
  readonly vni: number;
  /** All confirmed nodes, in order. */
  readonly nodes: readonly NodeId[];
  /** Empty without an error. */
  readonly problem: string;
}

const UNAVAILABLE = noticeKey("fabric_unavailable", "cluster");

export function setDomainFabric(step: Step, { key, vni, nodes, problem }: SetDomainFabricCommand): Outcome {
  const domain = step.state.domain(key);
  if (domain === undefined || domain.vni !== vni) return refuse("stale_report", `there is no domain ${quote(key)}`);
  if (!isText(problem, MAX_NOTICE_LENGTH)) return refuseFields([{ field: "problem", detail: "is too long" }]);
  const known = domain.fabric;
  if (known !== undefined && sameNodes(known.nodes, nodes) && (known.problem ?? "") === problem) return unchanged(key);

  const fabric = { nodes, ...(problem === "" ? {} : { problem }), since: step.at };
  step.state.tables.domains.set(key, { ...domain, fabric });
  for (const record of membersOf(step.state, domain)) {
    if (problem === "") begin(step, record, known?.nodes ?? [], nodes);
    else if (waits(step.state, record)) tellWaiting(step, record, problem);
  }
  if (problem !== "") raise(step, problem);
  else if (!Array.from(step.state.domains()).some((one) => one.fabric?.problem !== undefined)) {
    clearNotice(step, UNAVAILABLE);
  }
  return accepted(key);
}

export const sameNodes = (a: readonly NodeId[], b: readonly NodeId[]): boolean =>
  a.length === b.length && a.every((node, i) => node === b[i]);

function membersOf(view: Pick<View, "placed">, { tenant, name }: Domain): readonly Allocation[] {
  return Array.from(view.placed()).filter(({ spec, network }) => spec.tenant === tenant && network?.domain === name);
}

/** Orders the starts that waited for the fabric. */
function begin(step: Step, record: Allocation, before: readonly NodeId[], now: readonly NodeId[]): void {
  if (!isPlaced(record.phase)) return;
  for (const [i, node] of record.phase.nodes.entries()) {
    const held = record.phase.progress[i]?.state === "ordered" && !before.includes(node) && now.includes(node);
    if (!held) continue;
    step.effects.push({ kind: "run", node, allocation: record.id, attempt: attemptOn(record, node) });
  }
}

const waits = (view: Pick<View, "network" | "domain">, record: Allocation): boolean =>
  isPlaced(record.phase) && record.phase.nodes.some((node) => !mayUseFabric(view, record, node));

function tellWaiting(step: Step, record: Allocation, problem: string): void {
  const text = `It waits for the fabric manager: ${problem}.`;
  step.state.putAllocation(withNote(record, { type: "failure", kind: "fabric_unavailable", text }, step));
}

function raise(step: Step, problem: string): void {
  const text = `the fabric manager does not serve network domains: ${problem}`.slice(0, MAX_NOTICE_LENGTH);
  raiseNotice(step, { key: UNAVAILABLE, kind: "fabric_unavailable", text, tenant: null, user: null });
}
