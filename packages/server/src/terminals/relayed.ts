// A terminal that a person has asked of a follower: passed on to the leader, where the agents are. Both
// ends of that line are here, so that what one writes is seen beside what the other reads.

import { create } from "@bufbuild/protobuf";
import type { ClientDuplexStream, ServerDuplexStream, ServiceError } from "@grpc/grpc-js";
import { attempt, type NodeId, parseAllocationId, type UserName } from "@lattice/core";
import { ProblemError, pb, serviceDefinition } from "@lattice/wire";
import type { TerminalQuery } from "../api/control-plane.ts";
import { askedOfAnEarlierLife, asProblem, type PeerClient } from "../peers/client.ts";
import type { TerminalRelay } from "./relay.ts";

export type RelayAttachCall = ServerDuplexStream<pb.RelayAttachRequest, pb.RelayAttachResponse>;

/** On the follower. */
export async function* relayedTerminal(
  peer: PeerClient,
  query: TerminalQuery,
  input: AsyncIterable<pb.AttachRequest>,
  signal: AbortSignal,
): AsyncGenerator<pb.AttachResponse> {
  const call = openLine(peer);
  const stop = () => call.cancel();
  const forget = peer.track(stop);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { allocation, ...rest } = query;
    const start = create(pb.RelayAttachStartSchema, { ...rest, allocationId: allocation });
    call.write(create(pb.RelayAttachRequestSchema, { start }));
    void passOn(call, input);
    for await (const { output } of call as AsyncIterable<pb.RelayAttachResponse>)
      if (output !== undefined) yield output;
  } catch (error) {
    if (!signal.aborted) askedOfAnEarlierLife(asProblem(error as ServiceError));
  } finally {
    forget();
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

/** On the leader. */
export async function answerRelayedTerminal(relay: TerminalRelay, call: RelayAttachCall): Promise<void> {
  const gone = new AbortController();
  call.on("cancelled", () => gone.abort());
  call.on("close", () => gone.abort());
  const requests = call[Symbol.asyncIterator]() as AsyncIterator<pb.RelayAttachRequest>;
  const first = await requests.next();
  const start = first.done ? undefined : first.value.start;
  const allocation = parseAllocationId(start?.allocationId ?? "");
  if (start === undefined || allocation === null) throw new ProblemError("unknown_allocation");
  const query: TerminalQuery = {
    allocation,
    attempt: attempt(start.attempt),
    node: start.node as NodeId,
    user: start.user as UserName,
    command: start.command,
    size: start.size ?? { rows: 0, cols: 0 },
    term: start.term,
  };
  for await (const output of relay.open(query, inputsOf(requests), gone.signal)) {
    if (call.write(create(pb.RelayAttachResponseSchema, { output }))) continue;
    await drained(call, gone.signal);
  }
}

function openLine(peer: PeerClient): ClientDuplexStream<pb.RelayAttachRequest, pb.RelayAttachResponse> {
  const method = serviceDefinition(pb.PeerService).RelayAttach;
  if (method === undefined) throw new Error("the contract between servers has no RelayAttach");
  const { path, requestSerialize, responseDeserialize } = method;
  return peer.channel.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, peer.proof) as never;
}

async function passOn(
  call: ClientDuplexStream<pb.RelayAttachRequest, pb.RelayAttachResponse>,
  input: AsyncIterable<pb.AttachRequest>,
): Promise<void> {
  try {
    for await (const message of input) {
      if (call.destroyed) return;
      if (call.write(create(pb.RelayAttachRequestSchema, { input: message }))) continue;
      await new Promise<void>((resolve) => {
        call.once("drain", resolve);
        call.once("close", resolve);
      });
    }
  } catch {
    // Whoever types has gone; that ends the terminal like a clean end does.
  }
  call.end();
}

async function* inputsOf(requests: AsyncIterator<pb.RelayAttachRequest>): AsyncGenerator<pb.AttachRequest> {
  for (let next = await requests.next(); next.done !== true; next = await requests.next())
    if (next.value.input !== undefined) yield next.value.input;
}

function drained(call: RelayAttachCall, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    call.once("drain", resolve);
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
}
