// Maintains network domains: releases unused ones and registers the members of the others with the fabric manager. A
// confirmed member enters the log before work may rely on it, and leaves the log before the manager forgets it. Before
// each call the leader checks with the log that it still leads, since a delayed leader would send old state. An
// unreachable manager is retried with backoff, and the domain shows the problem. An exhausted VNI pool raises a notice.

import {
  type Domain,
  type Duration,
  duration,
  type Instant,
  instant,
  type NodeId,
  nodesStillInDomains,
  type View,
} from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, monotonicNow } from "../../../base/clock.ts";
import type { FabricDomains } from "../../../nodes/fabric/domains.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import type { Controller } from "../periodic/periodic.ts";
import { byCodeUnits, decideNetworks, decidePool, membersOf, type NetworkIntent } from "./decide.ts";

interface NetworkKeeper {
  readonly view: () => View;
  readonly sequencer: Sequencer;
  readonly stillLeads: () => Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `null` when Lattice does not manage the fabric. */
  readonly fabric: FabricDomains | null;
}

/** Concurrent domains: a hanging manager must not delay all of them in turn. */
const MAX_CONCURRENT = 16;
const MIN_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
/** Interval between comparisons with the manager's own list. */
const COMPARE_EVERY: Duration = duration(60_000);

export const networksController = (
  context: Omit<NetworkKeeper, "view"> & { readonly replica: Pick<Replica, "view"> },
  signal: AbortSignal,
): Controller => ({
  name: "networks",
  // Work in a domain waits for the fabric manager to confirm its nodes.
  every: duration(context.fabric === null ? 1_000 : 100),
  run: createNetworkKeeper({ ...context, view: () => context.replica.view }, signal),
});

/** Returns one run of the controller. */
export function createNetworkKeeper(parts: NetworkKeeper, signal: AbortSignal): () => Promise<void> {
  const { view, sequencer, stillLeads, clock, logger, fabric } = parts;
  const waiting = new Map<string, { readonly failures: number; readonly until: Instant }>();
  let comparedAt: Instant | null = null;

  async function release(key: string): Promise<void> {
    await sequencer.propose({ kind: "network.release", key });
  }

  async function record({ key, vni }: Domain, nodes: readonly NodeId[], problem = ""): Promise<void> {
    await sequencer.propose({ kind: "network.fabric", key, vni, nodes, problem });
  }

  /** Rejects when the manager cannot be reached; the log still has the members that work may rely on. */
  async function put(by: FabricDomains, domain: Domain, wanted: readonly NodeId[]): Promise<void> {
    const { key, vni, tenant, name, sensitive = false } = domain;
    const before = domain.fabric?.nodes ?? [];
    const kept = before.filter((node) => wanted.includes(node));
    let nodes = wanted;
    if (kept.length < before.length) {
      // No work may start on a node that is about to be removed, even if the manager's answer is lost.
      await record(domain, kept, domain.fabric?.problem);
      // Nodes that joined meanwhile are added; a node that left is handled in the next run.
      const come = membersOf(view(), nodesStillInDomains(view())).get(key) ?? [];
      nodes = [...new Set([...kept, ...come])].sort(byCodeUnits);
    }
    if (!(await stillLeads())) return;
    await by.put({ vni, tenant, name, nodes, sensitive }, signal);
    await record(domain, nodes);
  }

  async function act(intent: NetworkIntent): Promise<void> {
    const { domain } = intent;
    if (intent.kind === "release" || fabric === null) return release(domain.key);
    try {
      if (intent.kind === "put") await put(fabric, domain, intent.nodes);
      else {
        // No work may start in it any more; a node that joins meanwhile is registered again.
        if ((domain.fabric?.nodes.length ?? 0) > 0) await record(domain, []);
        if (!(await stillLeads())) return;
        // Work that started just before keeps the domain; its members are registered in the next run.
        if (view().domain(domain.key)?.emptySince === null) return;
        await fabric.remove(domain.vni, signal);
        await release(domain.key);
      }
      waiting.delete(domain.key);
    } catch (error) {
      if (signal.aborted) return;
      await failed(domain, error instanceof Error ? error.message : String(error));
    }
  }

  async function failed(domain: Domain, problem: string): Promise<void> {
    const { key, vni } = domain;
    const failures = (waiting.get(key)?.failures ?? 0) + 1;
    const backoffMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (failures - 1));
    waiting.set(key, { failures, until: instant(monotonicNow(clock) + backoffMs) });
    logger.warn({ domain: key, vni, problem, failures }, "fabric manager unreachable: network domain not updated");
    await record(domain, view().domain(key)?.fabric?.nodes ?? [], problem);
  }

  return async () => {
    const now = monotonicNow(clock);
    const due = decideNetworks(view(), clock.now()).filter(
      ({ domain }) => (waiting.get(domain.key)?.until ?? 0) <= now,
    );
    await Promise.all(due.slice(0, MAX_CONCURRENT).map(act));
    const notice = decidePool(view());
    if (notice !== null) await sequencer.propose(notice);
    if (fabric === null || (comparedAt !== null && now < comparedAt + COMPARE_EVERY)) return;
    comparedAt = now;
    await compareFabric({ view, stillLeads, logger, fabric }, signal).catch((error: Error) =>
      logger.warn({ problem: error.message }, "fabric manager not compared with the network domains"),
    );
  };
}

interface CompareParts {
  readonly view: () => View;
  readonly stillLeads: () => Promise<boolean>;
  readonly logger: Logger;
  readonly fabric: FabricDomains;
}

/** Compares with the manager's own list: it may have lost members, or kept networks that the log has released. */
async function compareFabric({ view, stillLeads, logger, fabric }: CompareParts, signal: AbortSignal) {
  const known = new Map((await fabric.list(signal)).map(({ vni, nodes }) => [vni, nodes]));
  for (const { key, vni, fabric: confirmed, tenant, name, sensitive = false } of [...view().domains()]) {
    const nodes = confirmed?.nodes ?? [];
    const listed = known.get(vni) ?? [];
    if (nodes.length === 0 || (nodes.length === listed.length && nodes.every((node) => listed.includes(node))))
      continue;
    if (!(await stillLeads())) return;
    logger.warn({ domain: key, vni }, "fabric manager has other members of a network domain: registering ours");
    await fabric.put({ vni, tenant, name, nodes, sensitive }, signal);
  }
  const { vniStart, vniEnd } = view().network;
  for (const vni of known.keys()) {
    // Read the state again: a domain may have been created since.
    const owned = Array.from(view().domains()).some((domain) => domain.vni === vni);
    if (owned || vni < vniStart || vni > vniEnd) continue;
    if (!(await stillLeads())) return;
    logger.warn({ vni }, "fabric manager has a network without a domain: removing it");
    await fabric.remove(vni, signal);
  }
}
