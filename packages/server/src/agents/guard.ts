// Only agents may call the agents' service. With authentication on, every stream brings a token that
// has the scope `agent`; its user is the node's name, so that a node cannot speak for another. The
// scope `agent:any` is for one token that many nodes share.

import type { Metadata, ServiceError } from "@grpc/grpc-js";
import { ProblemError, problemOf } from "@lattice/wire";
import type { Authenticator } from "../api/auth/authenticator.ts";
import type { Principal } from "../api/auth/principal.ts";
import { statusOf } from "../api/grpc/status.ts";
import type { GrpcService } from "../api/index.ts";

const AGENT_SCOPE = "agent";
const ANY_NODE_SCOPE = "agent:any";

interface AgentCall {
  readonly metadata: Metadata;
  emit(event: "error", error: Partial<ServiceError>): unknown;
}
type Method = (call: AgentCall, reply?: (error: Partial<ServiceError>) => void) => void;

export interface AgentGuard {
  guarded(service: GrpcService): GrpcService;
  /** Null: this stream may speak for the node; else why not. Only for streams that came through `guarded`. */
  stranger(call: object, node: string): string | null;
}

/** `authenticator` null: the cluster has no authentication. */
export function createAgentGuard(authenticator: Authenticator | null): AgentGuard {
  const bearers = new WeakMap<object, Principal>();
  if (authenticator === null) return { guarded: (service) => service, stranger: () => null };

  const wrap =
    (method: Method): Method =>
    (call, reply) => {
      const refuse = (error: unknown) => {
        const status = statusOf(problemOf(error));
        if (reply !== undefined) reply(status);
        else call.emit("error", Object.assign(new Error(status.details), status));
      };
      // Nothing is read from the stream before somebody listens, so what comes meanwhile is not lost.
      admit(authenticator, call.metadata).then((principal) => {
        bearers.set(call, principal);
        method(call, reply);
      }, refuse);
    };

  return {
    guarded({ definition, implementation }) {
      const entries = Object.entries(implementation as unknown as Readonly<Record<string, Method>>);
      const wrapped = Object.fromEntries(entries.map(([name, method]) => [name, wrap(method)]));
      return { definition, implementation: wrapped as unknown as GrpcService["implementation"] };
    },
    stranger(call, node) {
      const bearer = bearers.get(call);
      if (bearer === undefined) return "the stream has no identity";
      if (bearer.scopes.includes(ANY_NODE_SCOPE) || bearer.user === node) return null;
      return `the token is for ${bearer.user}, the hello for ${node}`;
    },
  };
}

async function admit(authenticator: Authenticator, metadata: Metadata): Promise<Principal> {
  const principal = await authenticator.authenticate((name) => {
    const value = metadata.get(name)[0];
    return typeof value === "string" ? value : undefined;
  });
  if (principal.scopes.includes(AGENT_SCOPE) || principal.scopes.includes(ANY_NODE_SCOPE)) return principal;
  throw new ProblemError("forbidden", { detail: `The token of ${principal.user} does not have the scope agent.` });
}
