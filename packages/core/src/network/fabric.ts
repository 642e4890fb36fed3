// What the fabric manager has confirmed of a domain, or why it cannot be had. The confirmed nodes may run what waits for them; while
// the manager is away whoever needs it waits where it is, with the reason written down, and everybody else goes on.

import type { Allocation } from "../allocation/allocation.ts";
import { attemptOn } from "../allocation/attempt-on.ts";
import { isText } from "../allocation/check-values.ts";
import { withNote } from "../allocation/keep-past.ts";
import { isPlaced } from "../allocation/phase.ts";
import type { SetDomainFabricCommand } from "../command.ts";
import type { NodeId } from "../ids.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../notice/notice.ts";
import { clearNotice, notify } from "../notice/raise.ts";
import type { Outcome } from "../outcome.ts";
import type { View } from "../state/view.ts";
import { accepted, quote, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { type Domain, domainKey } from "./domain.ts";

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
    clearNotice(step, { kind: "notice.clear", key: UNAVAILABLE });
  }
  return accepted(key);
}

/** Whether the fabric is ready for this allocation on this node; always where nobody manages it. */
export function mayUseFabric(
  view: Pick<View, "network" | "domain">,
  { spec, network }: Pick<Allocation, "spec" | "network">,
  node: NodeId,
): boolean {
  if (network === undefined || view.network.managed !== true) return true;
  return view.domain(domainKey(spec.tenant, network.domain))?.fabric?.nodes.includes(node) === true;
}

export const sameNodes = (a: readonly NodeId[], b: readonly NodeId[]): boolean =>
  a.length === b.length && a.every((node, i) => node === b[i]);

function membersOf(view: Pick<View, "placed">, { tenant, name }: Domain): readonly Allocation[] {
  return Array.from(view.placed()).filter(({ spec, network }) => spec.tenant === tenant && network?.domain === name);
}

/** What was held back for the fabric is ordered now. */
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
  notify(step, { key: UNAVAILABLE, kind: "fabric_unavailable", text, tenant: null, user: null });
}
