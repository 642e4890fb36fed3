// Keeps network domains: releases those that are over, and has the fabric manager know the members of the others. What the manager
// has confirmed goes through the log before anybody may rely on it, and what it must forget, a domain or one of its nodes, is no
// longer relied on before it is told. The manager hears only from who leads by the log's own word: one that was held up would tell
// it what was true once. A manager that is away is asked again, less and less often; the domain says so meanwhile. Administrators
// are told of a pool that is used up.

import { type Domain, type Duration, duration, type Instant, lingeringIn, type NodeId, type View } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, steadyNow } from "../../clock.ts";
import type { FabricDomains } from "../../fabric/domains.ts";
import type { Sequencer } from "../../leader/sequencer.ts";
import { byCodeUnits, decideNetworks, membersOf, type NetworkIntent } from "./decide.ts";
import { decidePool } from "./pool.ts";

export interface NetworkKeeper {
  readonly view: () => View;
  readonly sequencer: Sequencer;
  readonly stillLeads: () => Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Null: nobody manages the fabric. */
  readonly fabric: FabricDomains | null;
}

/** At a time: a manager that hangs must not hold up all domains in turn. */
const MOST_AT_ONCE = 16;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Between two looks at what the manager really has. */
const COMPARE_EVERY: Duration = duration(60_000);

export function createNetworkKeeper(parts: NetworkKeeper, signal: AbortSignal): () => Promise<void> {
  const { view, sequencer, stillLeads, clock, logger, fabric } = parts;
  const waiting = new Map<string, { readonly failures: number; readonly until: Instant }>();
  let comparedAt: Instant | null = null;

  async function release(key: string): Promise<void> {
    await sequencer.propose({ kind: "network.release", key });
  }

  async function told({ key, vni }: Domain, nodes: readonly NodeId[], problem = ""): Promise<void> {
    await sequencer.propose({ kind: "network.fabric", key, vni, nodes, problem });
  }

  /** Rejects when the manager could not be had; what the log has is then what may be relied on all the same. */
  async function put(by: FabricDomains, domain: Domain, wanted: readonly NodeId[]): Promise<void> {
    const { key, vni, tenant, name, sensitive = false } = domain;
    const before = domain.fabric?.nodes ?? [];
    const kept = before.filter((node) => wanted.includes(node));
    let nodes = wanted;
    if (kept.length < before.length) {
      // Nobody may begin on a node that is about to be taken out, whether or not the manager's answer comes back.
      await told(domain, kept, domain.fabric?.problem);
      // Who has come in the meantime is let in; who has left is what the log says yet, and its turn comes next.
      const come = membersOf(view(), lingeringIn(view())).get(key) ?? [];
      nodes = [...new Set([...kept, ...come])].sort(byCodeUnits);
    }
    if (!(await stillLeads())) return;
    await by.put({ vni, tenant, name, nodes, sensitive }, signal);
    await told(domain, nodes);
  }

  async function act(intent: NetworkIntent): Promise<void> {
    const { domain } = intent;
    if (intent.kind === "release" || fabric === null) return release(domain.key);
    try {
      if (intent.kind === "put") await put(fabric, domain, intent.nodes);
      else {
        // First nobody may begin anything in it; who joins meanwhile is told to the manager again.
        if ((domain.fabric?.nodes.length ?? 0) > 0) await told(domain, []);
        if (!(await stillLeads())) return;
        // Somebody who came just before that has begun: the manager keeps it, and is told the members anew.
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
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
    waiting.set(key, { failures, until: (steadyNow(clock) + pause) as Instant });
    logger.warn({ domain: key, vni, problem, failures }, "the fabric manager was not to be had for a network domain");
    // As the log has it by now.
    await told(domain, view().domain(key)?.fabric?.nodes ?? [], problem);
  }

  /** What it has forgotten is told again; members and networks that it should have forgotten are taken away. */
  async function compare(by: FabricDomains): Promise<void> {
    const known = new Map((await by.list(signal)).map(({ vni, nodes }) => [vni, nodes]));
    const domains = [...view().domains()];
    for (const { key, vni, fabric: standing, tenant, name, sensitive = false } of domains) {
      const nodes = standing?.nodes ?? [];
      const there = known.get(vni) ?? [];
      if (nodes.length === 0 || (nodes.length === there.length && nodes.every((node) => there.includes(node))))
        continue;
      if (!(await stillLeads())) return;
      logger.warn({ domain: key, vni }, "the fabric manager has other members of a network domain");
      await by.put({ vni, tenant, name, nodes, sensitive }, signal);
    }
    const { vniStart, vniEnd } = view().network;
    for (const vni of known.keys()) {
      // Looked at anew: a domain may have been made since.
      const owned = Array.from(view().domains()).some((domain) => domain.vni === vni);
      if (owned || vni < vniStart || vni > vniEnd) continue;
      if (!(await stillLeads())) return;
      logger.warn({ vni }, "the fabric manager has a network that no domain owns");
      await by.remove(vni, signal);
    }
  }

  return async () => {
    const now = steadyNow(clock);
    const due = decideNetworks(view(), clock.now()).filter(
      ({ domain }) => (waiting.get(domain.key)?.until ?? 0) <= now,
    );
    await Promise.all(due.slice(0, MOST_AT_ONCE).map(act));
    const tell = decidePool(view());
    if (tell !== null) await sequencer.propose(tell);
    if (fabric === null || (comparedAt !== null && now < comparedAt + COMPARE_EVERY)) return;
    comparedAt = now;
    await compare(fabric).catch((error: Error) =>
      logger.warn({ problem: error.message }, "the fabric was not compared"),
    );
  };
}
