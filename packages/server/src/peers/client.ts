// A follower's line to the leader. One channel per address, made when first needed and dropped
// when the leader is another. Every call has a deadline; what the leader refuses comes back as the
// problem it was, so that a client cannot tell which server it asked.

import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type Command, type LogIndex, logIndex, type Outcome } from "@lattice/core";
import {
  GRPC_DETAILS_TRAILER,
  logStreamToProto,
  ProblemError,
  pb,
  problemFromGrpc,
  serviceDefinition,
} from "@lattice/wire";
import type { LogsQuery } from "../api/control-plane.ts";
import { PEER_TOKEN_HEADER, type PeerName } from "./address.ts";

/** Longer than any healthy commit, shorter than a caller's patience. */
const CALL_DEADLINE_MS = 10_000;

const METHODS = serviceDefinition(pb.PeerService);

export interface PeerClient {
  /** Of the server it leads to; another token is another life of it. */
  readonly token: string;
  propose(command: Command): Promise<{ readonly outcome: Outcome; readonly index: LogIndex }>;
  logs(query: LogsQuery, signal: AbortSignal): AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>;
  liveness(): Promise<readonly pb.NodeLiveness[]>;
  /** The channel itself, for relaying an agent's streams. */
  readonly channel: Client;
  /** Ended with the line: a stream to a server that no longer leads is of no use to anybody. */
  track(end: () => void): () => void;
  close(): void;
}

export function connectPeer({ address, token }: PeerName): PeerClient {
  const proof = new Metadata();
  proof.set(PEER_TOKEN_HEADER, token);
  const channel = new Client(address, credentials.createInsecure(), {
    // A leader that is paused keeps its connections; only silence tells.
    "grpc.keepalive_time_ms": 5_000,
    "grpc.keepalive_timeout_ms": 3_000,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
  const streams = new Set<() => void>();
  return {
    token,
    channel,
    track(end) {
      streams.add(end);
      return () => streams.delete(end);
    },
    async propose(command) {
      const request = create(pb.ProposeRequestSchema, { command: JSON.stringify(command) });
      const answer = (await unary({ channel, proof }, "Propose", request)) as pb.ProposeResponse;
      return { outcome: JSON.parse(answer.outcome) as Outcome, index: logIndex(Number(answer.logIndex)) };
    },
    async *logs(query, signal) {
      yield* relayedLogs({ channel, proof }, query, signal);
    },
    async liveness() {
      const answer = (await unary(
        { channel, proof },
        "GetLiveness",
        create(pb.GetLivenessRequestSchema),
      )) as pb.GetLivenessResponse;
      return answer.nodes;
    },
    close() {
      for (const end of streams) end();
      channel.close();
    },
  };
}

interface Line {
  readonly channel: Client;
  readonly proof: Metadata;
}

type MethodName = "Propose" | "GetLiveness" | "RelayLogs";

function methodOf(name: MethodName) {
  const method = METHODS[name];
  if (method === undefined) throw new Error(`the contract between servers has no ${name}`);
  return method;
}

function unary(
  { channel, proof }: Line,
  name: MethodName,
  request: Parameters<ReturnType<typeof methodOf>["requestSerialize"]>[0],
) {
  const { path, requestSerialize, responseDeserialize } = methodOf(name);
  return new Promise<unknown>((resolve, reject) => {
    const deadline = Date.now() + CALL_DEADLINE_MS;
    channel.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      proof,
      { deadline },
      (error, answer) => {
        if (error !== null) reject(asProblem(error));
        else resolve(answer);
      },
    );
  });
}

async function* relayedLogs({ channel, proof }: Line, query: LogsQuery, signal: AbortSignal) {
  const { path, requestSerialize, responseDeserialize } = methodOf("RelayLogs");
  const request = create(pb.RelayLogsRequestSchema, {
    allocationId: query.allocation,
    attempt: query.attempt,
    node: query.node,
    stream: logStreamToProto(query.stream),
    tail: query.tail,
    follow: query.follow,
  });
  const call = channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, proof);
  const stop = () => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of call as AsyncIterable<pb.RelayLogsResponse>) {
      yield { data: chunk.data, offset: Number(chunk.offset) };
    }
  } catch (error) {
    if (!signal.aborted) throw asProblem(error as ServiceError);
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

/** The leader's own refusal when it sent one; else it could not be reached, and trying again may help. */
function asProblem(error: ServiceError): ProblemError {
  const details = error.metadata?.get(GRPC_DETAILS_TRAILER)[0];
  if (details instanceof Uint8Array) {
    return ProblemError.of(problemFromGrpc({ code: error.code, message: error.details, detailsBin: details }));
  }
  return new ProblemError("not_leader", {
    detail: `The leading server cannot be reached: ${error.details ?? error.message}.`,
  });
}
