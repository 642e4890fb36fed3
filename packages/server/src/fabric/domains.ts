// The client of the fabric manager for network domains: a number (VNI) is made with its members, its members are replaced, and it is
// taken away. Every call says the whole of what should be, so that repeating one, or making it after a crash, does no harm. It
// tries once: whoever keeps the domains looks again anyway, and knows by then whether it is still wanted.

import type { FabricConfig } from "../config/fabric.ts";
import { type FabricAnswer, type FabricCall, fabricHttp, fieldsOf, isGood, reasonOf } from "./http.ts";

export interface FabricDomain {
  readonly vni: number;
  readonly tenant: string;
  readonly name: string;
  readonly nodes: readonly string[];
  /** Nothing passes but among its members, and what their nodes let through to the data gateway. */
  readonly sensitive: boolean;
}

/** As the manager has it. */
export interface KnownDomain {
  readonly vni: number;
  readonly nodes: readonly string[];
}

export interface FabricDomains {
  /** Makes it, or gives it these members; rejects with the reason in words. */
  put(domain: FabricDomain, signal: AbortSignal): Promise<void>;
  /** One that is not there is gone already. */
  remove(vni: number, signal: AbortSignal): Promise<void>;
  /** Those that were made in the name of this cluster. */
  list(signal: AbortSignal): Promise<readonly KnownDomain[]>;
}

export type DomainOperation = "domain_put" | "domain_remove" | "domain_list";

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
    throw new Error("it lists its networks in no JSON");
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
