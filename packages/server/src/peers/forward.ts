// Forwarding of API calls to the leader: both ends of the Forward stream. The follower states the principal that it has
// authenticated; the leader accepts that only from a server that proves its membership (peer token, and certificate
// where the cluster has an authority). Problems of the handler travel inside the stream, so that a status of the stream
// itself always means that the two servers could not talk.

import { create, type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { ClientDuplexStream, ServerDuplexStream, ServiceError } from "@grpc/grpc-js";
import { parseTenantId, parseUserName } from "@lattice/core";
import { ProblemError, pb, problemFromGrpc, problemOf, problemToGrpc, serviceDefinition } from "@lattice/wire";
import type { Forward, ForwardedCall } from "../api/call/forward.ts";
import { isRpcName, methodOf, type RpcName } from "../api/call/rpc.ts";
import { isRole, type Principal } from "../base/auth/principal.ts";
import { CallerGone, isCallerGone } from "../base/caller-gone.ts";
import { asProblem, type PeerClient, refuseRestartedLeader } from "./client.ts";

/** How long the leader may take to end a call after the caller has disconnected. */
const END_TIMEOUT_MS = 5_000;

export type ForwardCall = ServerDuplexStream<pb.ForwardRequest, pb.ForwardResponse>;
type ForwardStream = ClientDuplexStream<pb.ForwardRequest, pb.ForwardResponse>;

/** The follower's end. */
export const forwardTo = (peer: PeerClient): Forward =>
  async function* forward(call, request, signal) {
    if (signal.aborted) return;
    const method = methodOf(call.rpc);
    const stream = openStream(peer);
    // A bidirectional call ends with the caller's stream; for other calls a step reports that the caller is gone.
    const reportsGone = () => isCallerGone(signal) && method.methodKind !== "bidi_streaming";
    const stop = () => (reportsGone() ? sendGone(stream) : stream.cancel());
    const untrack = peer.track(() => stream.cancel());
    signal.addEventListener("abort", stop, { once: true });
    stream.on("error", () => undefined);
    try {
      stream.write(create(pb.ForwardRequestSchema, { step: { case: "start", value: startOf(call) } }));
      void sendRequests(stream, method, request);
      const responses: AsyncIterable<pb.ForwardResponse> = stream.iterator({ destroyOnReturn: false });
      for await (const { answer, logIndex } of responses) {
        if (signal.aborted) return;
        if (answer.case === "problem") throw ProblemError.of(problemOfStatus(answer.value));
        if (answer.case === "message") yield { message: fromBinary(method.output, answer.value), logIndex };
      }
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      if (!signal.aborted) refuseRestartedLeader(asProblem(error as ServiceError));
    } finally {
      untrack();
      signal.removeEventListener("abort", stop);
      if (signal.aborted && reportsGone()) stream.resume();
      else stream.cancel();
    }
  };

/** Runs the forwarded call on this server. */
export type RunForwarded = (
  call: ForwardedCall,
  request: Message | AsyncIterable<Message>,
  signal: AbortSignal,
) => AsyncIterable<Message>;

/** The leader's end. Resolves when the call is over; `index` returns the applied index of this server. */
export async function serveForwarded(call: ForwardCall, run: RunForwarded, index: () => number): Promise<void> {
  const gone = new AbortController();
  call.on("cancelled", () => gone.abort());
  call.on("close", () => gone.abort());
  const answer = async (body: pb.ForwardResponse["answer"]) => {
    const response = create(pb.ForwardResponseSchema, { answer: body, logIndex: String(index()) });
    if (!gone.signal.aborted && !call.write(response)) await drained(call, gone.signal);
  };
  try {
    // The default iterator destroys the stream at the end of the input, and with it the answer.
    const steps: AsyncIterator<pb.ForwardRequest> = call.iterator({ destroyOnReturn: false });
    const first = await steps.next();
    const forwarded = callOf(first.done === true ? undefined : first.value);
    const method = methodOf(forwarded.rpc);
    const requests = requestsOf(steps, method, () => gone.abort(new CallerGone()));
    const request = method.methodKind === "bidi_streaming" ? requests : await onlyRequest(requests);
    for await (const message of run(forwarded, request, gone.signal)) {
      if (gone.signal.aborted) break;
      await answer({ case: "message", value: toBinary(method.output, message) });
    }
  } catch (error) {
    await answer({ case: "problem", value: problemToGrpc(problemOf(error)).detailsBin });
  }
  call.end();
}

const startOf = (call: ForwardedCall): pb.ForwardStart =>
  create(pb.ForwardStartSchema, {
    rpc: call.rpc,
    principal: create(pb.ForwardedPrincipalSchema, {
      user: call.principal.user,
      tenant: call.principal.tenant ?? "",
      roles: [...call.principal.roles],
      scopes: [...call.principal.scopes],
    }),
    statedTenant: call.statedTenant,
    warnings: [...call.warnings],
    minIndex: call.minIndex ?? "",
    consistent: call.consistent,
  });

function callOf(request: pb.ForwardRequest | undefined): ForwardedCall {
  const start = request?.step.case === "start" ? request.step.value : undefined;
  if (start === undefined) throw malformed("the first message is not a start");
  return {
    rpc: rpcOf(start.rpc),
    principal: principalOf(start.principal),
    statedTenant: start.statedTenant,
    minIndex: start.minIndex === "" ? undefined : start.minIndex,
    consistent: start.consistent,
    warnings: start.warnings,
  };
}

function principalOf(stated: pb.ForwardedPrincipal | undefined): Principal {
  const user = parseUserName(stated?.user ?? "");
  if (stated === undefined || user === null) throw malformed("it has no user");
  const tenant = stated.tenant === "" ? null : parseTenantId(stated.tenant);
  if (tenant === null && stated.tenant !== "") throw malformed(`"${stated.tenant}" is not a tenant name`);
  // Unknown roles are ignored.
  return { user, tenant, roles: stated.roles.filter(isRole), scopes: stated.scopes };
}

function rpcOf(name: string): RpcName {
  if (isRpcName(name)) return name;
  throw new ProblemError("upgrade_unfinished", { detail: `The leader does not know the call ${name} yet.` });
}

const malformed = (why: string): ProblemError =>
  new ProblemError("invalid_argument", { detail: `The forwarded call is malformed: ${why}.` });

const problemOfStatus = (detailsBin: Uint8Array) => problemFromGrpc({ code: 2, message: "", detailsBin });

function openStream(peer: PeerClient): ForwardStream {
  const method = serviceDefinition(pb.PeerService).Forward;
  if (method === undefined) throw new Error("PeerService has no Forward");
  const { path, requestSerialize, responseDeserialize } = method;
  return peer.channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, peer.proof) as never;
}

async function sendRequests(
  stream: ForwardStream,
  method: DescMethod,
  request: Message | AsyncIterable<Message>,
): Promise<void> {
  const send = (message: Message): boolean =>
    stream.write(
      create(pb.ForwardRequestSchema, { step: { case: "message", value: toBinary(method.input, message) } }),
    );
  if (!(Symbol.asyncIterator in request)) {
    // The stream stays open for the step that reports a disconnected caller.
    send(request);
    return;
  }
  try {
    for await (const message of request) {
      if (stream.destroyed) return;
      if (send(message)) continue;
      await new Promise<void>((resolve) => {
        stream.once("drain", resolve);
        stream.once("close", resolve);
      });
    }
  } catch {
    // The caller's stream broke, which ends its input as a clean end does.
  }
  stream.end();
}

/** Cancelling at once could discard this step. */
function sendGone(stream: ForwardStream): void {
  stream.write(create(pb.ForwardRequestSchema, { step: { case: "callerGone", value: create(pb.CallerGoneSchema) } }));
  stream.end();
  const timer = setTimeout(() => stream.cancel(), END_TIMEOUT_MS);
  timer.unref();
  stream.once("close", () => clearTimeout(timer));
}

/** Returns the only request, and continues to read for the step that reports a disconnected caller. */
async function onlyRequest(requests: AsyncGenerator<Message>): Promise<Message> {
  const first = await requests.next();
  if (first.done === true) throw malformed("it has no request message");
  // Errors of the stream reach the call as `cancelled`.
  requests.next().catch(() => undefined);
  return first.value;
}

async function* requestsOf(
  steps: AsyncIterator<pb.ForwardRequest>,
  method: DescMethod,
  onGone: () => void,
): AsyncGenerator<Message> {
  for (let next = await steps.next(); next.done !== true; next = await steps.next()) {
    const { step } = next.value;
    if (step.case === "callerGone") return onGone();
    if (step.case === "message") yield fromBinary(method.input, step.value);
  }
}

function drained(call: ForwardCall, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    call.once("drain", resolve);
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
}
