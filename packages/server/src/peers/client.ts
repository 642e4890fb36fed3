// A follower's line to the leader. One channel per address, made when first needed and dropped
// when the leader is another. Every call has a deadline; what the leader refuses comes back as the
// problem it was, so that a client cannot tell which server it asked.

import { create } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type AuditRecord, type Command, type LogIndex, logIndex, type Outcome } from "@lattice/core";
import {
  GRPC_DETAILS_TRAILER,
  logStreamToProto,
  ProblemError,
  pb,
  problemFromGrpc,
  serviceDefinition,
} from "@lattice/wire";
import { PEER_TOKEN_HEADER } from "../base/auth/peer-headers.ts";
import type { LogsQuery } from "../nodes/output/query.ts";
import type { AuditGap } from "../state/audit/archive.ts";
import type { AuditPage } from "../state/audit/fill.ts";
import type { HistoryPage } from "../state/history/fill.ts";
import type { PeerName } from "./address.ts";

/** Longer than any healthy commit, shorter than a caller's patience. */
const CALL_DEADLINE_MS = 10_000;

const METHODS = serviceDefinition(pb.PeerService);

export interface PeerClient {
  /** Of the server it leads to; another token is another life of it. */
  readonly token: string;
  /** That server did not know this one: a connection that shows the certificate in force by now may fare better. */
  readonly refused: boolean;
  propose(command: Command): Promise<{ readonly outcome: Outcome; readonly index: LogIndex }>;
  readOutput(
    query: LogsQuery,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>;
  liveness(): Promise<readonly pb.NodeLiveness[]>;
  memberStatus(timeoutMs: number): Promise<pb.GetMemberStatusResponse>;
  /** Resolves when that server leads no more; it says so when it did not lead. */
  stepDown(to: string): Promise<boolean>;
  /** What entries after `after` up to `through` archived; ended by the signal. */
  readHistory(after: LogIndex, through: LogIndex, signal: AbortSignal): AsyncIterable<HistoryPage>;
  /** Records of the audit log that have left the state. */
  readAudit(gap: AuditGap, signal: AbortSignal): AsyncIterable<AuditPage>;
  /** Shows the leader that a server of the cluster asks. */
  readonly proof: Metadata;
  /** The channel itself, for relaying streams. */
  readonly channel: Client;
  /** Ended with the line: a stream to a server that no longer leads is of no use to anybody. */
  track(end: () => void): () => void;
  close(): void;
}

export function connectPeer({ address, token }: PeerName, how: ChannelCredentials): PeerClient {
  const proof = new Metadata();
  proof.set(PEER_TOKEN_HEADER, token);
  const channel = new Client(address, how, {
    // A leader that is paused keeps its connections; only silence tells.
    "grpc.keepalive_time_ms": 5_000,
    // A line that is made anew shows the certificate in force by now, which a connection shared with others would not.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.keepalive_timeout_ms": 3_000,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
  // Now, and not when somebody waits for an answer that has to come this way.
  channel.getChannel().getConnectivityState(true);
  const streams = new Set<() => void>();
  let refused = false;
  const called = (name: MethodName, request: Asked, timeoutMs?: number) =>
    unary({ channel, proof }, name, request, timeoutMs).catch((error: unknown) => {
      if (isUnknown(error)) refused = true;
      throw error;
    });
  return {
    token,
    get refused() {
      return refused;
    },
    proof,
    channel,
    track(end) {
      streams.add(end);
      return () => streams.delete(end);
    },
    async propose(command) {
      const request = create(pb.ProposeRequestSchema, { command: JSON.stringify(command) });
      const asked = called("Propose", request).catch(refuseEarlierLife);
      const answer = (await asked) as pb.ProposeResponse;
      return { outcome: JSON.parse(answer.outcome) as Outcome, index: logIndex(Number(answer.logIndex)) };
    },
    async *readOutput(query, signal) {
      yield* outputPieces({ channel, proof }, query, signal);
    },
    memberStatus: async (timeoutMs) =>
      (await called(
        "GetMemberStatus",
        create(pb.GetMemberStatusRequestSchema),
        timeoutMs,
      )) as pb.GetMemberStatusResponse,
    async stepDown(to) {
      await called("StepDown", create(pb.StepDownRequestSchema, { to }));
      return true;
    },
    async liveness() {
      const answer = (await called("GetLiveness", create(pb.GetLivenessRequestSchema))) as pb.GetLivenessResponse;
      return answer.nodes;
    },
    async *readHistory(after, through, signal) {
      yield* historyPages({ channel, proof }, { after, through }, signal);
    },
    async *readAudit(gap, signal) {
      yield* auditPages({ channel, proof }, gap, signal);
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

type MethodName =
  | "GetMemberStatus"
  | "StepDown"
  | "Propose"
  | "GetLiveness"
  | "ReadOutput"
  | "ReadHistory"
  | "ReadAudit";

function methodOf(name: MethodName) {
  const method = METHODS[name];
  if (method === undefined) throw new Error(`the contract between servers has no ${name}`);
  return method;
}

type Asked = Parameters<ReturnType<typeof methodOf>["requestSerialize"]>[0];

function unary({ channel, proof }: Line, name: MethodName, request: Asked, timeoutMs = CALL_DEADLINE_MS) {
  const { path, requestSerialize, responseDeserialize } = methodOf(name);
  return new Promise<unknown>((resolve, reject) => {
    const deadline = Date.now() + timeoutMs;
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

async function* outputPieces({ channel, proof }: Line, query: LogsQuery, signal: AbortSignal) {
  const { path, requestSerialize, responseDeserialize } = methodOf("ReadOutput");
  const request = create(pb.ReadOutputRequestSchema, {
    allocationId: query.allocation,
    attempt: query.attempt,
    node: query.node,
    stream: logStreamToProto(query.stream),
    tail: query.tail,
    follow: query.follow,
    offset: String(query.offset),
    sinceMs: query.sinceMs,
    untilMs: query.untilMs,
  });
  const call = channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, proof);
  const stop = () => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of call as AsyncIterable<pb.ReadOutputResponse>) {
      yield { data: chunk.data, offset: Number(chunk.offset) };
    }
  } catch (error) {
    if (!signal.aborted) refuseEarlierLife(asProblem(error as ServiceError));
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

async function* historyPages(
  { channel, proof }: Line,
  { after, through }: { readonly after: LogIndex; readonly through: LogIndex },
  signal: AbortSignal,
): AsyncIterable<HistoryPage> {
  const { path, requestSerialize, responseDeserialize } = methodOf("ReadHistory");
  const request = create(pb.ReadHistoryRequestSchema, { afterIndex: String(after), throughIndex: String(through) });
  const call = channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, proof);
  const stop = () => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const { whole, records } of call as AsyncIterable<pb.ReadHistoryResponse>) {
      yield { whole, records: records.map(({ logIndex: index, json }) => ({ index: Number(index), json })) };
    }
  } catch (error) {
    // A stream that was cut short must not look like one that has ended.
    throw signal.aborted ? signal.reason : asProblem(error as ServiceError);
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

async function* auditPages({ channel, proof }: Line, gap: AuditGap, signal: AbortSignal): AsyncIterable<AuditPage> {
  const { path, requestSerialize, responseDeserialize } = methodOf("ReadAudit");
  const request = create(pb.ReadAuditRequestSchema, { first: String(gap.first), through: String(gap.through) });
  const call = channel.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, proof);
  const stop = () => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const { whole, floor, records } of call as AsyncIterable<pb.ReadAuditResponse>)
      yield { whole, floor: Number(floor), records: records.map((json) => JSON.parse(json) as AuditRecord) };
  } catch (error) {
    throw signal.aborted ? signal.reason : asProblem(error as ServiceError);
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

/** The leader's own refusal when it sent one; else it could not be reached, and trying again may help. */
export function asProblem(error: ServiceError): ProblemError {
  const details = error.metadata?.get(GRPC_DETAILS_TRAILER)[0];
  if (details instanceof Uint8Array) {
    return ProblemError.of(problemFromGrpc({ code: error.code, message: error.details, detailsBin: details }));
  }
  return new ProblemError("not_leader", {
    detail: `The leading server cannot be reached: ${error.details ?? error.message}.`,
  });
}

/**
 * For what clients wait for. They were judged before it came here, so "forbidden" is about the proof alone: the leader
 * was started again, and its earlier life still stands in the election.
 */
export function refuseEarlierLife(error: unknown): never {
  if (isUnknown(error))
    throw new ProblemError("not_leader", {
      detail: `The leading server does not take this one for a server of the cluster. ${error.problem.detail}`,
    });
  if (!(error instanceof ProblemError) || error.problem.code !== "forbidden") throw error;
  throw new ProblemError("not_leader", {
    detail: "The leading server was started again; another is being elected.",
  });
}

const isUnknown = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.problem.code === "unauthenticated";
