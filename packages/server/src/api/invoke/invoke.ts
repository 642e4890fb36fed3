// The path of every API call: REST and gRPC bring a decoded message and leave with a message or a ProblemError.
// This file authenticates, limits the rate, decides whether this server or the leader runs the handler, waits for the
// requested freshness, and turns unexpected errors into `internal`. Handlers authorize.

import type { Message } from "@bufbuild/protobuf";
import { logIndex } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Authenticator } from "../../base/auth/authenticator.ts";
import { CLUSTER_HEADER } from "../../base/auth/peer-headers.ts";
import type { Headers, Principal } from "../../base/auth/principal.ts";
import { statedTenant, TENANT_HEADER } from "../../base/auth/stated.ts";
import { type TokenWatch, watchToken } from "../../base/auth/watch-token.ts";
import { CallerGone } from "../../base/caller-gone.ts";
import { clusterHeader, foreignCluster } from "../../base/cluster-identity.ts";
import type { Config } from "../../base/config/index.ts";
import type { From } from "../../base/observe/access-log.ts";
import type { Logger, Metrics } from "../../base/observe/index.ts";
import { acceptsServers } from "../access/authorize.ts";
import { samePower, withGrants } from "../access/granted.ts";
import { targetOf } from "../call/access-target.ts";
import type { Call } from "../call/call.ts";
import type { ControlPlane } from "../call/control-plane.ts";
import type { Forward, ForwardedCall } from "../call/forward.ts";
import { startRequestLog } from "../call/request-log.ts";
import { type HandlerPlacement, methodOf, type RpcName, type StreamHandler, type UnaryHandler } from "../call/rpc.ts";
import { handlers } from "../handlers/table.ts";
import type { Gate } from "../limits/gate.ts";
import { FORWARD_CATCH_UP_MS, READ_WAIT_MS } from "../limits/limits.ts";

export interface ApiContext {
  readonly plane: ControlPlane;
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly gate: Gate;
  /** Ports of this server. */
  readonly listening: ReadonlySet<number>;
  /** Aborts when the server starts to stop. */
  readonly closing: AbortSignal;
  /** Returns the way to the leader; `null` when this server leads or knows no leader. */
  readonly leader: () => Forward | null;
}

/** The parts of a request beside its message. */
export interface RequestMeta {
  readonly headers: Headers;
  /** The origin for the access log; calls from inside the server have none. */
  readonly from?: From;
  /** The lowest log index that the answer must reflect; undefined for none. */
  readonly minIndex: string | undefined;
  /** The answer must reflect every entry that was durable when the call started. */
  readonly consistent: boolean;
  readonly warnings: readonly string[];
}

export interface StreamMeta extends RequestMeta {
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Called once the caller is authenticated and within its limits. */
  readonly onAdmitted?: () => void;
}

export const MIN_INDEX_HEADER = "x-lattice-min-index";
const LOG_INDEX_HEADER = "x-lattice-log-index";
/** "true" on answers of a server that has lost its connection to the leader. */
export const STALE_HEADER = "x-lattice-stale";

export async function invokeUnary(
  api: ApiContext,
  rpc: RpcName,
  request: Message,
  meta: RequestMeta,
): Promise<Message> {
  const log = startRequestLog(rpc, meta, targetOf(request));
  try {
    if (api.closing.aborted) throw stopping();
    refuseUnsound(api, rpc);
    refuseOtherCluster(api, meta.headers);
    const found = api.authenticator.authenticate(meta.headers, acceptsServers(rpc));
    const known = found instanceof Promise ? await found : found;
    log.principal = known;
    api.gate.enter(withGrants(known, api.plane.view()), rpc);
    const answer = await answerUnary(api, { rpc, principal: known, meta }, request);
    // A create call has no id before it is answered.
    if (log.target === "") log.target = targetOf(answer);
    return answer;
  } catch (error) {
    throw log.recordError(asProblem(api, rpc, error));
  } finally {
    log.end(api);
  }
}

/** A message of a stream, or several that are available at once. */
export type Item = Message | readonly Message[];

export const messagesOf = (item: Item): readonly Message[] => (isSeveral(item) ? item : [item]);
export const isSeveral = (item: Item): item is readonly Message[] => Array.isArray(item);

/** Ends without error when the caller disconnects (`signal`), and with `shutting_down` when the server stops. */
export async function* invokeStream(
  api: ApiContext,
  rpc: RpcName,
  /** Several messages for an RPC that streams both ways. */
  request: Message | AsyncIterable<Message>,
  meta: StreamMeta,
): AsyncGenerator<Item> {
  const log = startRequestLog(rpc, meta, isStream(request) ? "" : targetOf(request));
  const requests = isStream(request) ? log.observeTarget(request) : request;
  let watch: TokenWatch | null = null;
  let leave: () => void = () => undefined;
  const stop = new AbortController();
  const onGone = () => stop.abort(new CallerGone());
  const onClosing = () => stop.abort();
  meta.signal.addEventListener("abort", onGone, { once: true });
  api.closing.addEventListener("abort", onClosing, { once: true });
  if (meta.signal.aborted) onGone();
  if (api.closing.aborted) onClosing();
  try {
    if (api.closing.aborted) throw stopping();
    refuseUnsound(api, rpc);
    refuseOtherCluster(api, meta.headers);
    const known = await api.authenticator.authenticate(meta.headers);
    log.principal = known;
    const principal = withGrants(known, api.plane.view());
    leave = api.gate.open(principal, rpc);
    const same = (now: Principal) => samePower(principal, withGrants(now, api.plane.view()));
    // The abort reason tells a caller whose token expired from one that disconnected.
    watch = watchToken(api, meta.headers, (why) => stop.abort(why), same);
    yield* answerStream(api, { rpc, principal: known, meta }, requests, stop.signal);
    const lapsed = watch.lapsed();
    if (lapsed !== null) throw lapsed;
    if (api.closing.aborted && !meta.signal.aborted) throw stopping();
  } catch (error) {
    if (meta.signal.aborted) return;
    throw log.recordError(api.closing.aborted ? stopping() : asProblem(api, rpc, error));
  } finally {
    stop.abort();
    leave();
    watch?.close();
    meta.signal.removeEventListener("abort", onGone);
    api.closing.removeEventListener("abort", onClosing);
    log.end(api);
  }
}

/**
 * Runs a handler on the leader for a caller of a follower, which has authenticated the caller. Ends with `not_leader`
 * when this server stops, so that the follower's client retries there.
 */
export async function* invokeForwarded(
  api: ApiContext,
  { rpc, principal, statedTenant: stated, minIndex, consistent, warnings }: ForwardedCall,
  request: Message | AsyncIterable<Message>,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const headers: Headers = (name) => (name === TENANT_HEADER && stated !== "" ? stated : undefined);
  const known = { rpc, principal, meta: { headers, minIndex, consistent, warnings } };
  const stop = AbortSignal.any([signal, api.closing]);
  try {
    if (api.closing.aborted) throw stepsDown();
    // The caller's server is sound: it retries with the next leader.
    if (api.plane.diverged() !== null) throw new ProblemError("not_leader", { detail: "The leader has diverged." });
    if (methodOf(rpc).methodKind === "unary" && !isStream(request)) yield await runUnary(api, known, request, stop);
    else for await (const item of runStream(api, known, request, stop)) yield* messagesOf(item);
    if (api.closing.aborted && !signal.aborted) throw stepsDown();
  } catch (error) {
    throw api.closing.aborted ? stepsDown() : asProblem(api, rpc, error);
  }
}

/** Logs and counts a stream that was ended because its client stopped reading. */
export function streamStalled({ metrics, logger }: ApiContext, rpc: RpcName): void {
  metrics.streamStalled(rpc);
  logger.warn({ rpc }, "API stream ended: the client does not read");
}

/** Returns the log index that an answer reflects. */
export function indexOf(api: ApiContext, answer: Message): string {
  return ownIndexOf(answer) || (leaderIndexes.get(answer) ?? String(api.plane.view().index));
}

/** The applied index of the leader for answers that it gave; it may be ahead of this replica. */
const leaderIndexes = new WeakMap<Message, string>();

const ownIndexOf = (answer: Message): string =>
  "logIndex" in answer && typeof answer.logIndex === "string" ? answer.logIndex : "";

interface KnownCall {
  readonly rpc: RpcName;
  readonly principal: Principal;
  readonly meta: Pick<RequestMeta, "headers" | "minIndex" | "consistent" | "warnings">;
}

async function answerUnary(api: ApiContext, known: KnownCall, request: Message): Promise<Message> {
  const placement = placementOf(known.rpc, request);
  const leader = placement === "any" ? null : api.leader();
  if (leader === null) return runUnary(api, known, request, api.closing);
  try {
    return await forwardUnary(api, leader, known, request);
  } catch (error) {
    if (placement !== "prefer_leader" || !isNotLeader(error)) throw error;
    return runUnary(api, known, request, api.closing);
  }
}

async function forwardUnary(api: ApiContext, leader: Forward, known: KnownCall, request: Message): Promise<Message> {
  for await (const { message, logIndex: reflected } of leader(forwardedCall(known), request, api.closing)) {
    leaderIndexes.set(message, reflected);
    await catchUp(api, ownIndexOf(message));
    return message;
  }
  throw api.closing.aborted ? stopping() : new ProblemError("not_leader", { detail: "The leader gave no answer." });
}

/** Waits for this replica to apply a write of the leader, so that the caller can read it here. The write is committed. */
async function catchUp(api: ApiContext, index: string): Promise<void> {
  if (index === "") return;
  const signal = AbortSignal.timeout(FORWARD_CATCH_UP_MS);
  await api.plane.waitFor(logIndex(Number(index)), signal).catch(() => undefined);
}

async function* answerStream(
  api: ApiContext,
  known: KnownCall & { readonly meta: StreamMeta },
  request: Message | AsyncIterable<Message>,
  signal: AbortSignal,
): AsyncGenerator<Item> {
  const placement = isStream(request) ? placementOf(known.rpc, null) : placementOf(known.rpc, request);
  const leader = placement === "any" ? null : api.leader();
  if (leader === null) {
    yield* runStream(api, known, request, signal, known.meta.onAdmitted);
    return;
  }
  known.meta.onAdmitted?.();
  for await (const { message } of leader(forwardedCall(known), request, signal)) yield message;
}

const forwardedCall = ({ rpc, principal, meta }: KnownCall): ForwardedCall => ({
  rpc,
  principal,
  statedTenant: meta.headers(TENANT_HEADER) ?? "",
  minIndex: meta.minIndex,
  consistent: meta.consistent,
  warnings: meta.warnings,
});

async function runUnary(api: ApiContext, known: KnownCall, request: Message, signal: AbortSignal): Promise<Message> {
  const wait = freshness(api, known.meta);
  if (wait !== null) await wait;
  return unaryHandler(known.rpc)(callOf(api, known, signal), request);
}

async function* runStream(
  api: ApiContext,
  known: KnownCall,
  request: Message | AsyncIterable<Message>,
  signal: AbortSignal,
  onAdmitted?: () => void,
): AsyncGenerator<Item> {
  const wait = freshness(api, known.meta);
  if (wait !== null) await wait;
  onAdmitted?.();
  yield* streamHandler(known.rpc)(callOf(api, known, signal), request);
}

// REST and gRPC pair each RPC with its own message type; the type of the table says the same per row.
const unaryHandler = (rpc: RpcName) => handlers[rpc].handle as unknown as UnaryHandler<Message, Message>;
const streamHandler = (rpc: RpcName) =>
  handlers[rpc].handle as unknown as StreamHandler<Message | AsyncIterable<Message>, Message>;

function placementOf(rpc: RpcName, request: Message | null): HandlerPlacement {
  const { runs } = handlers[rpc];
  if (typeof runs !== "function") return runs;
  return request === null ? "any" : (runs as (message: Message) => HandlerPlacement)(request);
}

const callOf = ({ plane, config }: ApiContext, { principal, meta }: KnownCall, signal: AbortSignal): Call => ({
  plane,
  principal: withGrants(principal, plane.view()),
  signal,
  config,
  statedTenant: () => statedTenant(meta.headers),
  warnings: meta.warnings,
});

const isStream = (request: Message | AsyncIterable<Message>): request is AsyncIterable<Message> =>
  Symbol.asyncIterator in request;

/** Returns `null` when the replica is fresh enough already. */
function freshness(api: ApiContext, { minIndex, consistent }: KnownCall["meta"]): Promise<void> | null {
  if (minIndex === undefined && !consistent) return null;
  if (minIndex !== undefined && !/^[0-9]{1,15}$/.test(minIndex)) {
    const field = { field: "min_index", detail: "is not a log index", hint: "Pass log_index of an earlier answer." };
    throw new ProblemError("invalid_argument", { detail: "min_index: is not a log index", fields: [field] });
  }
  const least = logIndex(Number(minIndex ?? "0"));
  if (!consistent && api.plane.view().index >= least) return null;
  return withDeadline(api, async (signal) => {
    if (consistent) await api.plane.waitForHead(signal);
    if (api.plane.view().index < least) await api.plane.waitFor(least, signal);
  });
}

async function withDeadline(api: ApiContext, wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const timer = setTimeout(end, READ_WAIT_MS);
  api.closing.addEventListener("abort", end, { once: true });
  try {
    await wait(stop.signal);
  } catch (error) {
    if (api.closing.aborted) throw stopping();
    if (!stop.signal.aborted) throw error;
    const detail = `This server has applied the log up to ${api.plane.view().index}, which is not far enough yet.`;
    throw new ProblemError("deadline_exceeded", { detail, cause: error });
  } finally {
    clearTimeout(timer);
    api.closing.removeEventListener("abort", end);
  }
}

function asProblem(api: ApiContext, rpc: RpcName, error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (api.closing.aborted) return stopping();
  // The cause is for the server log; the caller learns only that the call failed.
  api.logger.error({ err: error, rpc }, "API handler failed");
  return new ProblemError("internal", { detail: `${rpc} failed inside the server.`, cause: error });
}

/** The one call that is answered without a sound state: it shows an administrator the states of all servers. */
const ANSWERED_UNSOUND: RpcName = "AdminService.GetClusterStatus";

/** A state that differs, or lacks what was durable before this server started, would refuse valid calls and grants. */
function refuseUnsound({ plane }: ApiContext, rpc: RpcName): void {
  if (rpc === ANSWERED_UNSOUND) return;
  const difference = plane.diverged();
  if (difference !== null) throw new ProblemError("state_diverged", { detail: difference });
  const replay = plane.replaying();
  if (replay !== null) throw new ProblemError("log_unavailable", { detail: replay });
}

/** A client may name the cluster that its calls are for. */
function refuseOtherCluster({ plane }: ApiContext, headers: Headers): void {
  const { identity } = plane.view();
  const named = headers(CLUSTER_HEADER) ?? "";
  if (named !== "" && foreignCluster(named, identity) !== null)
    throw new ProblemError("foreign_cluster", {
      detail: `The call is for cluster ${named}, and this server belongs to cluster ${identity?.id ?? ""}.`,
    });
}

/** Headers of every answer. */
export function answerHeaders({ plane }: ApiContext, index: string): Readonly<Record<string, string>> {
  const { identity } = plane.view();
  return {
    [LOG_INDEX_HEADER]: index,
    ...(identity === null ? {} : { [CLUSTER_HEADER]: clusterHeader(identity) }),
  };
}

const isNotLeader = (error: unknown): boolean => error instanceof ProblemError && error.problem.code === "not_leader";

const stopping = (): ProblemError => new ProblemError("shutting_down", { detail: "This server is stopping." });
const stepsDown = (): ProblemError => new ProblemError("not_leader", { detail: "The leader is stopping." });
