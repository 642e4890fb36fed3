// Authenticates agents. An agent has a certificate of the cluster's authority in the name of its node, or a token with
// the scope `agent` and the node as its user, so that no node can act for another. The scope `agent:any` is for a token
// shared by many nodes. An enrolment token obtains a first certificate and permits nothing else. A certificate has
// precedence over a token. A revoked certificate is refused and its streams are
// ended; so are the streams of a token that has expired or was revoked.

import type { Metadata, ServiceError } from "@grpc/grpc-js";
import { parseNodeId, type UserName } from "@lattice/core";
import { type Bearer, bearerOf, nodeMismatch, ProblemError, problemOf, type ShownCertificate } from "@lattice/wire";
import type { Authenticator } from "../../base/auth/authenticator.ts";
import { PEER_TOKEN_HEADER, VOUCHED_HEADER } from "../../base/auth/peer-headers.ts";
import type { Headers, Principal } from "../../base/auth/principal.ts";
import { watchToken } from "../../base/auth/watch-token.ts";
import type { GrpcService } from "../../base/grpc/service.ts";
import { statusOf } from "../../base/grpc/status.ts";
import type { AccessLine } from "../../base/observe/access-log.ts";
import { type CertifiedCall, certificateOf } from "../../base/tls/shown.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import { connectionAddress } from "./agent-address.ts";
import { type Enrolled, type EnrolmentOptions, enrolled, enrolmentTokenOf } from "./enrolled.ts";

const AGENT_SCOPE = "agent";
const ANY_NODE_SCOPE = "agent:any";
/** The only call that an enrolment token permits. */
const ENROLLING_CALL = "issueCertificate";

interface AgentCall extends CertifiedCall {
  readonly metadata: Metadata;
  readonly cancelled?: boolean;
  getPeer?(): string;
  emit(event: "error", error: Partial<ServiceError>): unknown;
  once?(event: "close" | "cancelled", listener: () => void): unknown;
}
type Method = (call: AgentCall, reply?: (error: Partial<ServiceError>) => void) => void;

type Identity =
  | { readonly kind: "certificate"; readonly bearer: Bearer }
  | { readonly kind: "token"; readonly principal: Principal }
  | { readonly kind: "enrolment"; readonly enrolled: Enrolled };

export interface AgentGuard {
  guarded(service: GrpcService): GrpcService;
  /** Returns why the stream may not act for the node, or null. Only for streams that passed `guarded`. */
  refusal(call: object, node: string): string | null;
  /** Returns the user of the token; null for a certificate or no identity. */
  tokenOf(call: object): UserName | null;
  /** Returns the enrolment whose token the call presents; null for other identities. */
  enrolmentOf(call: object): Enrolled | null;
}

/** The current certificate with its revocation list. */
type Revocations = Pick<TlsSource, "current" | "onChange">;

export interface GuardOptions {
  /** `null` when the cluster has no tokens. */
  readonly authenticator: Authenticator | null;
  /** Whether agents may authenticate by certificate. */
  readonly certificates: boolean;
  /** Proof of a follower that relays an agent; its statement of the agent's certificate is then trusted. */
  readonly peerToken?: string;
  /** Default: no certificate is revoked. */
  readonly revocations?: Revocations;
  /** Interval of token checks on open streams. Default: never. */
  readonly config?: Parameters<typeof watchToken>[0]["config"];
  /** Form of the SPIFFE names of agents. Default: the usual one. */
  readonly agentUris?: string;
  /** Default: enrolment tokens are refused. */
  readonly enrolments?: EnrolmentOptions;
  /** Called for every refused agent. */
  readonly refused?: (line: AccessLine) => void;
}

export function createAgentGuard(options: GuardOptions): AgentGuard {
  const { authenticator, certificates, refused, revocations } = options;
  const bearers = new WeakMap<object, Identity>();
  /** Names of identified agents, admitted or not. */
  const names = new WeakMap<object, string>();
  /** Open streams by certificate, with the function that ends each. */
  const open = new Map<AgentCall, () => void>();
  if (authenticator === null && !certificates) return OPEN;

  const logRefusal = (call: AgentCall, rpc: string, code: string, more: Partial<AccessLine> = {}): void =>
    refused?.({
      interface: "agent",
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
        logRefusal(call, `AgentService.${name}`, problemOf(error).code);
        const status = statusOf(problemOf(error));
        if (reply !== undefined) reply(status);
        else call.emit("error", Object.assign(new Error(status.details), status));
      };
      // The stream is not read before it has a listener, so no message is lost meanwhile.
      admit({ call, rpc: name }, options, (shown) => names.set(call, shown)).then((shown) => {
        bearers.set(call, shown);
        if (reply === undefined && shown.kind === "certificate") watchRevocation(call, refuse);
        if (reply === undefined && shown.kind === "token") watchExpiry(call, shown.principal, refuse);
        method(call, reply);
      }, refuse);
    };

  function watchRevocation(call: AgentCall, refuse: (error: unknown) => void): void {
    open.set(call, () => refuse(revokedProblem()));
    for (const event of ["close", "cancelled"] as const) call.once?.(event, () => open.delete(call));
  }

  function watchExpiry(call: AgentCall, { user }: Principal, refuse: (error: unknown) => void): void {
    const { config } = options;
    // A stream that was cancelled during authentication emits no close event.
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
      if (!isRevoked(call, revocations)) continue;
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
    refusal(call, node) {
      const why = nodeRefusal(bearers.get(call), node);
      if (why !== null) logRefusal(call as AgentCall, "AgentService", "forbidden", { target: node });
      return why;
    },
    tokenOf(call) {
      const shown = bearers.get(call);
      return shown?.kind === "token" ? shown.principal.user : null;
    },
    enrolmentOf(call) {
      const shown = bearers.get(call);
      return shown?.kind === "enrolment" ? shown.enrolled : null;
    },
  };
}

/** For a cluster without tokens and certificates. */
const OPEN: AgentGuard = {
  guarded: (service) => service,
  refusal: () => null,
  tokenOf: () => null,
  enrolmentOf: () => null,
};

function nodeRefusal(shown: Identity | undefined, node: string): string | null {
  if (shown === undefined) return "the stream has no identity";
  if (shown.kind === "certificate") return nodeMismatch(shown.bearer, node);
  if (shown.kind === "enrolment") return enrolmentRefusal(shown.enrolled, node);
  const { user, scopes } = shown.principal;
  return scopes.includes(ANY_NODE_SCOPE) || user === node ? null : `the token is for ${user}, the hello for ${node}`;
}

function enrolmentRefusal({ refusal }: Enrolled, name: string): string | null {
  const node = parseNodeId(name);
  return node === null ? "it is not the name of a node" : refusal(node);
}

function presentedBy(call: AgentCall, agents: string | undefined): Bearer | null {
  const certificate = certificateOf(call);
  return certificate === null ? null : bearerOf(certificate, agents);
}

function vouchedFor(metadata: Metadata, peerToken: string | undefined, agents: string | undefined): Bearer | null {
  const text = metadata.get(VOUCHED_HEADER)[0];
  if (typeof text !== "string" || peerToken === undefined) return null;
  const token = metadata.get(PEER_TOKEN_HEADER)[0];
  return token === peerToken ? bearerOf(JSON.parse(decodeURIComponent(text)) as ShownCertificate, agents) : null;
}

const revokedProblem = () =>
  new ProblemError("unauthenticated", { detail: "The certificate was revoked by its authority." });

function isRevoked(call: AgentCall, revocations: Revocations | undefined): boolean {
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

/** `known` receives the name before authorization, for the access log. */
async function admit(
  { call, rpc }: { readonly call: AgentCall; readonly rpc: string },
  options: GuardOptions,
  known: (name: string) => void,
): Promise<Identity> {
  const { authenticator, certificates, peerToken, revocations, agentUris } = options;
  if (certificates && isRevoked(call, revocations)) throw revokedProblem();
  const bearer = certificates
    ? (vouchedFor(call.metadata, peerToken, agentUris) ?? presentedBy(call, agentUris))
    : null;
  if (bearer !== null) {
    known(bearer.names[0] ?? "");
    if (bearer.kind === "agent") return { kind: "certificate", bearer };
    const detail = `The certificate of ${bearer.names.join(", ")} is that of ${bearer.kind === "" ? "no kind of bearer" : `a ${bearer.kind}`}, not of an agent.`;
    throw new ProblemError("forbidden", { detail });
  }
  const token = enrolmentTokenOf(headersOf(call));
  if (token !== null && options.enrolments !== undefined) {
    known(`enrolment-${token.id}`);
    if (rpc === ENROLLING_CALL)
      return { kind: "enrolment", enrolled: enrolled(options.enrolments, token, connectionAddress(call)) };
    throw new ProblemError("forbidden", {
      detail: "An enrolment token only obtains a first certificate.",
      hint: "Start the agent with --bootstrap-ca, and a server with api.tls_ca_key.",
    });
  }
  if (authenticator === null)
    throw new ProblemError("unauthenticated", { detail: "An agent needs a certificate of this cluster's authority." });
  const principal = await authenticator.authenticate(headersOf(call));
  known(principal.user);
  if (isAgent(principal)) return { kind: "token", principal };
  throw new ProblemError("forbidden", { detail: `The token of ${principal.user} does not have the scope agent.` });
}
