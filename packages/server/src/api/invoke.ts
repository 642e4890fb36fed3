// The narrow waist of the API: REST and gRPC both come here with a request that is already a
// message, and leave with a message or a ProblemError. Who calls, how fresh the answer must be,
// what is counted and how an unforeseen error is answered are settled here, once.

import type { Message } from "@bufbuild/protobuf";
import { logIndex } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Config } from "../config/config.ts";
import type { From } from "../observe/access-log.ts";
import type { Logger, Metrics } from "../observe/index.ts";
import { samePower, withGrants } from "./access/granted.ts";
import { targetOf } from "./access-target.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { Headers, Principal } from "./auth/principal.ts";
import { statedTenant } from "./auth/stated.ts";
import { type TokenWatch, watchToken } from "./auth/watch-token.ts";
import type { Call } from "./call.ts";
import type { ControlPlane } from "./control-plane.ts";
import { handlers } from "./handlers/table.ts";
import type { Gate } from "./limits/gate.ts";
import { READ_WAIT_MS } from "./limits/limits.ts";
import type { RpcName, StreamHandler, UnaryHandler } from "./rpc.ts";
import { beginVisit } from "./visit.ts";

export interface Door {
  readonly plane: ControlPlane;
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly gate: Gate;
  /** Aborts when the server begins to stop. */
  readonly closing: AbortSignal;
}

export interface Arrival {
  readonly headers: Headers;
  /** Absent: from within. */
  readonly from?: From;
  /** The least log index the answer must reflect; undefined when not asked for. */
  readonly minIndex: string | undefined;
  /** Reflect everything that was durable when the call came. */
  readonly consistent: boolean;
  readonly warnings: readonly string[];
}

export interface StreamArrival extends Arrival {
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  /** The caller is known and let in; what comes now is its handler's. */
  readonly entered?: () => void;
}

export const MIN_INDEX_HEADER = "x-lattice-min-index";
export const LOG_INDEX_HEADER = "x-lattice-log-index";
/** "true" on what a server says that is cut off from the leader. */
export const STALE_HEADER = "x-lattice-stale";

export async function invokeUnary(door: Door, rpc: RpcName, request: Message, arrival: Arrival): Promise<Message> {
  const visit = beginVisit(rpc, arrival, targetOf(request));
  try {
    if (door.closing.aborted) throw stopping();
    const found = door.authenticator.authenticate(arrival.headers);
    const known = found instanceof Promise ? await found : found;
    visit.principal = known;
    const principal = withGrants(known, door.plane.view());
    door.gate.enter(principal, rpc);
    const wait = freshness(door, arrival);
    if (wait !== null) await wait;
    const answer = await unary(rpc)(callOf(door, arrival, principal, door.closing), request);
    // What was made has its id now.
    if (visit.target === "") visit.target = targetOf(answer);
    return answer;
  } catch (error) {
    throw visit.refused(asProblem(door, rpc, error));
  } finally {
    visit.end(door);
  }
}

/** What a stream brings at a time: a message, or several that are there at once. */
export type Item = Message | readonly Message[];

export const messagesOf = (item: Item): readonly Message[] => (isSeveral(item) ? item : [item]);
export const isSeveral = (item: Item): item is readonly Message[] => Array.isArray(item);

/** Ends quietly when the caller has gone (`signal`), and with `shutting_down` when the server stops. */
export async function* invokeStream(
  door: Door,
  rpc: RpcName,
  /** Messages without end for what goes both ways. */
  request: Message | AsyncIterable<Message>,
  arrival: StreamArrival,
): AsyncGenerator<Item> {
  const visit = beginVisit(rpc, arrival, isStream(request) ? "" : targetOf(request));
  const requests = isStream(request) ? visit.watching(request) : request;
  let watch: TokenWatch | null = null;
  let leave: () => void = () => undefined;
  const stop = new AbortController();
  const end = () => stop.abort();
  arrival.signal.addEventListener("abort", end, { once: true });
  door.closing.addEventListener("abort", end, { once: true });
  if (arrival.signal.aborted || door.closing.aborted) stop.abort();
  try {
    if (door.closing.aborted) throw stopping();
    const known = await door.authenticator.authenticate(arrival.headers);
    visit.principal = known;
    const principal = withGrants(known, door.plane.view());
    leave = door.gate.open(principal, rpc);
    const same = (now: Principal) => samePower(principal, withGrants(now, door.plane.view()));
    // The reason tells a caller whose token has ended from one that has gone away.
    watch = watchToken(door, arrival.headers, (why) => stop.abort(why), same);
    const wait = freshness(door, arrival);
    if (wait !== null) await wait;
    arrival.entered?.();
    yield* streaming(rpc)(callOf(door, arrival, principal, stop.signal), requests);
    const lapsed = watch.lapsed();
    if (lapsed !== null) throw lapsed;
    if (door.closing.aborted && !arrival.signal.aborted) throw stopping();
  } catch (error) {
    if (arrival.signal.aborted) return;
    throw visit.refused(door.closing.aborted ? stopping() : asProblem(door, rpc, error));
  } finally {
    stop.abort();
    leave();
    watch?.close();
    arrival.signal.removeEventListener("abort", end);
    door.closing.removeEventListener("abort", end);
    visit.end(door);
  }
}

/** A stream was ended because nobody read it. */
export function streamStalled({ metrics, logger }: Door, rpc: RpcName): void {
  metrics.streamStalled(rpc);
  logger.warn({ rpc }, "a stream was ended: its client reads nothing");
}

/** The log index an answer reflects: its own when it says one, else what the replica has applied. */
export function indexOf(door: Door, answer: Message): string {
  const own = "logIndex" in answer && typeof answer.logIndex === "string" ? answer.logIndex : "";
  return own === "" ? String(door.plane.view().index) : own;
}

// The doors pair each RPC with its own message type; the table's type says the same per entry.
const unary = (rpc: RpcName) => handlers[rpc] as unknown as UnaryHandler<Message, Message>;
const streaming = (rpc: RpcName) =>
  handlers[rpc] as unknown as StreamHandler<Message | AsyncIterable<Message>, Message>;

const callOf = (
  { plane, config }: Door,
  { headers, warnings }: Arrival,
  principal: Principal,
  signal: AbortSignal,
): Call => ({
  plane,
  principal,
  signal,
  config,
  statedTenant: () => statedTenant(headers),
  warnings,
});

const isStream = (request: Message | AsyncIterable<Message>): request is AsyncIterable<Message> =>
  Symbol.asyncIterator in request;

/** Null, the usual case: nothing to wait for. */
function freshness(door: Door, { minIndex, consistent }: Arrival): Promise<void> | null {
  if (minIndex === undefined && !consistent) return null;
  if (minIndex !== undefined && !/^[0-9]{1,15}$/.test(minIndex)) {
    const field = { field: "min_index", detail: "is not a log index", hint: "Pass log_index of an earlier answer." };
    throw new ProblemError("invalid_argument", { detail: "min_index: is not a log index", fields: [field] });
  }
  const least = logIndex(Number(minIndex ?? "0"));
  if (!consistent && door.plane.view().index >= least) return null;
  return withDeadline(door, async (signal) => {
    if (consistent) await door.plane.waitForHead(signal);
    if (door.plane.view().index < least) await door.plane.waitFor(least, signal);
  });
}

async function withDeadline(door: Door, wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort();
  const timer = setTimeout(end, READ_WAIT_MS);
  door.closing.addEventListener("abort", end, { once: true });
  try {
    await wait(stop.signal);
  } catch (error) {
    if (door.closing.aborted) throw stopping();
    if (!stop.signal.aborted) throw error;
    const detail = `This server has applied the log up to ${door.plane.view().index}, which is not far enough yet.`;
    throw new ProblemError("deadline_exceeded", { detail, cause: error });
  } finally {
    clearTimeout(timer);
    door.closing.removeEventListener("abort", end);
  }
}

function asProblem(door: Door, rpc: RpcName, error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (door.closing.aborted) return stopping();
  // What went wrong inside is for the log, not for the caller.
  door.logger.error({ err: error, rpc }, "a handler failed");
  return new ProblemError("internal", { detail: `${rpc} failed inside the server.`, cause: error });
}

const stopping = (): ProblemError => new ProblemError("shutting_down", { detail: "This server is stopping." });
