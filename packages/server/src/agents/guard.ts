// Only agents may call the agents' service. An agent shows a certificate of the cluster's authority, whose name must be
// the node's, or a token that has the scope `agent` and the node's name as its user, so that a node cannot speak for
// another. The scope `agent:any` is for one token that many nodes share. A certificate comes first where both are there.
// One that its authority calls back is refused, and what it has open is ended; so is what was opened with a token that
// has expired or counts no more.

import type { Metadata, ServiceError } from "@grpc/grpc-js";
import type { UserName } from "@lattice/core";
import { type Bearer, bearerOf, notTheNode, ProblemError, problemOf } from "@lattice/wire";
import type { Authenticator } from "../api/auth/authenticator.ts";
import type { Headers, Principal } from "../api/auth/principal.ts";
import { watchToken } from "../api/auth/watch-token.ts";
import { statusOf } from "../api/grpc/status.ts";
import type { GrpcService } from "../api/index.ts";
import type { AccessLine } from "../observe/access-log.ts";
import { PEER_TOKEN_HEADER, VOUCHED_HEADER } from "../peers/address.ts";
import { type CertifiedCall, certificateOf } from "../tls/shown.ts";
import type { TlsSource } from "../tls/source.ts";

const AGENT_SCOPE = "agent";
const ANY_NODE_SCOPE = "agent:any";

interface AgentCall extends CertifiedCall {
  readonly metadata: Metadata;
  readonly cancelled?: boolean;
  getPeer?(): string;
  emit(event: "error", error: Partial<ServiceError>): unknown;
  once?(event: "close" | "cancelled", listener: () => void): unknown;
}
type Method = (call: AgentCall, reply?: (error: Partial<ServiceError>) => void) => void;

type Shown =
  | { readonly kind: "certificate"; readonly bearer: Bearer }
  | { readonly kind: "token"; readonly principal: Principal };

export interface AgentGuard {
  guarded(service: GrpcService): GrpcService;
  /** Null: this stream may speak for the node; else why not. Only for streams that came through `guarded`. */
  stranger(call: object, node: string): string | null;
  /** Whose token this call has shown; null: it has shown a certificate, or nothing. */
  tokenOf(call: object): UserName | null;
}

/** The certificate in force knows who is not to be let in any more. */
export type Revocations = Pick<TlsSource, "current" | "onChange">;

export interface GuardOptions {
  /** Null: the cluster has no tokens. */
  readonly authenticator: Authenticator | null;
  /** Whether agents can be known by their certificates. */
  readonly certificates: boolean;
  /** Other servers that pass an agent on show it, and are believed about whose certificate it had. */
  readonly peerToken?: string;
  /** Says which certificates were called back. */
  readonly revocations?: Revocations;
  /** How often the tokens of open streams are looked at again; absent: never. */
  readonly config?: Parameters<typeof watchToken>[0]["config"];
  /** Somebody was not let in, or not as who it said. */
  readonly refused?: (line: AccessLine) => void;
}

export function createAgentGuard(options: GuardOptions): AgentGuard {
  const { authenticator, certificates, refused, revocations } = options;
  const bearers = new WeakMap<object, Shown>();
  /** Of those who are known, let in or not. */
  const names = new WeakMap<object, string>();
  /** What certificates have open, and how it is ended. */
  const open = new Map<AgentCall, () => void>();
  if (authenticator === null && !certificates) return OPEN;

  const tell = (call: AgentCall, rpc: string, code: string, more: Partial<AccessLine> = {}): void =>
    refused?.({
      door: "agent",
      rpc,
      user: names.get(call) ?? "",
      tenant: "",
      remote: call.getPeer?.() ?? "",
      code,
      ...more,
    });

  const wrap =
    (name: string, method: Method): Method =>
    (call, reply) => {
      const refuse = (error: unknown) => {
        tell(call, `AgentService.${name}`, problemOf(error).code);
        const status = statusOf(problemOf(error));
        if (reply !== undefined) reply(status);
        else call.emit("error", Object.assign(new Error(status.details), status));
      };
      // Nothing is read from the stream before somebody listens, so what comes meanwhile is not lost.
      admit(call, options, (name) => names.set(call, name)).then((shown) => {
        bearers.set(call, shown);
        if (reply === undefined && shown.kind === "certificate") watch(call, refuse);
        if (reply === undefined && shown.kind === "token") look(call, shown.principal, refuse);
        method(call, reply);
      }, refuse);
    };

  function watch(call: AgentCall, refuse: (error: unknown) => void): void {
    open.set(call, () => refuse(calledBack()));
    for (const event of ["close", "cancelled"] as const) call.once?.(event, () => open.delete(call));
  }

  function look(call: AgentCall, { user }: Principal, refuse: (error: unknown) => void): void {
    const { config } = options;
    // One that left while its token was looked at closes no more.
    if (authenticator === null || config === undefined || call.cancelled === true) return;
    const end = () => {
      token.close();
      refuse(token.lapsed());
    };
    const same = (now: Principal) => now.user === user && isAgent(now);
    const token = watchToken({ authenticator, config }, headersOf(call), end, same);
    for (const event of ["close", "cancelled"] as const) call.once?.(event, token.close);
  }

  revocations?.onChange(() => {
    for (const [call, end] of open) {
      if (!wasCalledBack(call, revocations)) continue;
      open.delete(call);
      end();
    }
  });

  return {
    guarded({ definition, implementation }) {
      const entries = Object.entries(implementation as unknown as Readonly<Record<string, Method>>);
      const wrapped = Object.fromEntries(entries.map(([name, method]) => [name, wrap(name, method)]));
      return { definition, implementation: wrapped as unknown as GrpcService["implementation"] };
    },
    stranger(call, node) {
      const why = whyNot(bearers.get(call), node);
      if (why !== null) tell(call as AgentCall, "AgentService", "forbidden", { target: node });
      return why;
    },
    tokenOf(call) {
      const shown = bearers.get(call);
      return shown?.kind === "token" ? shown.principal.user : null;
    },
  };
}

/** Of a cluster without tokens and certificates. */
const OPEN: AgentGuard = { guarded: (service) => service, stranger: () => null, tokenOf: () => null };

function whyNot(shown: Shown | undefined, node: string): string | null {
  if (shown === undefined) return "the stream has no identity";
  if (shown.kind === "certificate") return notTheNode(shown.bearer, node);
  const { user, scopes } = shown.principal;
  return scopes.includes(ANY_NODE_SCOPE) || user === node ? null : `the token is for ${user}, the hello for ${node}`;
}

function shownBy(call: AgentCall): Bearer | null {
  const certificate = certificateOf(call);
  return certificate === null ? null : bearerOf(certificate);
}

function vouchedFor(metadata: Metadata, peerToken: string | undefined): Bearer | null {
  const text = metadata.get(VOUCHED_HEADER)[0];
  if (typeof text !== "string" || peerToken === undefined) return null;
  const token = metadata.get(PEER_TOKEN_HEADER)[0];
  return token === peerToken ? (JSON.parse(decodeURIComponent(text)) as Bearer) : null;
}

const calledBack = () =>
  new ProblemError("unauthenticated", { detail: "The certificate was called back by its authority." });

function wasCalledBack(call: AgentCall, revocations: Revocations | undefined): boolean {
  const certificate = certificateOf(call);
  return certificate !== null && revocations?.current().isRevoked(certificate) === true;
}

const headersOf =
  ({ metadata }: AgentCall): Headers =>
  (name) => {
    const value = metadata.get(name)[0];
    return typeof value === "string" ? value : undefined;
  };

const isAgent = ({ scopes }: Principal): boolean => scopes.includes(AGENT_SCOPE) || scopes.includes(ANY_NODE_SCOPE);

/** `known` is told who it is before it is asked whether they may. */
async function admit(call: AgentCall, options: GuardOptions, known: (name: string) => void): Promise<Shown> {
  const { authenticator, certificates, peerToken, revocations } = options;
  if (certificates && wasCalledBack(call, revocations)) throw calledBack();
  const bearer = certificates ? (vouchedFor(call.metadata, peerToken) ?? shownBy(call)) : null;
  if (bearer !== null) {
    known(bearer.names[0] ?? "");
    if (bearer.kind === "" || bearer.kind === "agent") return { kind: "certificate", bearer };
    const detail = `The certificate of ${bearer.names.join(", ")} is that of a ${bearer.kind}, not of an agent.`;
    throw new ProblemError("forbidden", { detail });
  }
  if (authenticator === null)
    throw new ProblemError("unauthenticated", { detail: "An agent needs a certificate of this cluster's authority." });
  const principal = await authenticator.authenticate(headersOf(call));
  known(principal.user);
  if (isAgent(principal)) return { kind: "token", principal };
  throw new ProblemError("forbidden", { detail: `The token of ${principal.user} does not have the scope agent.` });
}
