// The client of the fabric manager for network domains: creates a VNI with its members, replaces its members, and
// deletes it. Every call states the complete target, so that repeating it, also after a crash, is harmless. It does
// not retry: the controller of the domains checks again and knows whether the domain is still needed.

import type { FabricConfig } from "../../base/config/index.ts";
import { type FabricAnswer, type FabricCall, fabricHttp, fieldsOf, isGood, reasonOf } from "./http.ts";

interface FabricDomain {
  readonly vni: number;
  readonly tenant: string;
  readonly name: string;
  readonly nodes: readonly string[];
  /** Isolated: traffic only between its members, and to the data gateway where their nodes allow it. */
  readonly sensitive: boolean;
}

/** As the manager has it. */
interface KnownDomain {
  readonly vni: number;
  readonly nodes: readonly string[];
}

export interface FabricDomains {
  /** Creates the domain or replaces its members; rejects with the reason. */
  put(domain: FabricDomain, signal: AbortSignal): Promise<void>;
  /** Succeeds when the domain does not exist. */
  remove(vni: number, signal: AbortSignal): Promise<void>;
  /** Returns the domains of this cluster. */
  list(signal: AbortSignal): Promise<readonly KnownDomain[]>;
}

type DomainOperation = "domain_put" | "domain_remove" | "domain_list";

const GONE = 404;

export function fabricDomains(
  config: FabricConfig,
  counted: (operation: DomainOperation, result: "done" | "failed") => void,
): FabricDomains {
  const http = fabricHttp(config);
  const { owner, domainsPath: base } = config;

  async function ask(
    operation: DomainOperation,
    call: FabricCall,
    signal: AbortSignal,
    fine: (answer: FabricAnswer) => boolean = isGood,
  ): Promise<FabricAnswer> {
    const answer = await http(call, signal).catch((error: unknown) => reasonOf(error));
    const problem = typeof answer === "string" ? answer : fine(answer) ? null : `it answers ${answer.status}`;
    counted(operation, problem === null ? "done" : "failed");
    if (problem !== null || typeof answer === "string") throw new Error(problem ?? "");
    return answer;
  }

  return {
    async put({ vni, ...members }, signal) {
      await ask("domain_put", { method: "PUT", path: `${base}/${vni}`, body: { ...members, owner } }, signal);
    },
    async remove(vni, signal) {
      const call = { method: "DELETE", path: `${base}/${vni}?owner=${encodeURIComponent(owner)}`, body: null } as const;
      await ask("domain_remove", call, signal, (answer) => isGood(answer) || answer.status === GONE);
    },
    async list(signal) {
      const call = { method: "GET", path: `${base}?owner=${encodeURIComponent(owner)}`, body: null } as const;
      return knownOf(parsed((await ask("domain_list", call, signal)).text));
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("its network list is not valid JSON");
  }
}

function knownOf(value: unknown): readonly KnownDomain[] {
  const { vnis } = fieldsOf(value);
  if (!Array.isArray(vnis)) throw new Error("it lists no networks");
  return vnis.flatMap((each) => {
    const { vni, nodes } = fieldsOf(each);
    if (!Number.isInteger(vni)) return [];
    return [{ vni: vni as number, nodes: Array.isArray(nodes) ? nodes.map(String) : [] }];
  });
}
