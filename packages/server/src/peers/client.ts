// The client for another server. Every call has a deadline; a problem of the other server is returned unchanged, so that
// callers see no difference between servers.

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
import { type ClusterCheck, checkingCluster } from "./check-cluster.ts";

/** Longer than any healthy commit, shorter than the timeout of callers. */
const CALL_DEADLINE_MS = 10_000;

/** The first key of a cluster must not wait long for a server that does not answer. */
const KEY_DEADLINE_MS = 3_000;

const METHODS = serviceDefinition(pb.PeerService);

export interface PeerClient {
  /** The token of the other server; it changes with every start of that server. */
  readonly token: string;
  /** The other server refused this one's certificate; a new connection uses the current certificate. */
  readonly refused: boolean;
  propose(command: Command): Promise<{ readonly outcome: Outcome; readonly index: LogIndex }>;
  readOutput(
    query: LogsQuery,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>;
  liveness(): Promise<readonly pb.NodeLiveness[]>;
  memberStatus(timeoutMs: number): Promise<pb.GetMemberStatusResponse>;
  /** Resolves when that server has stepped down; rejects with `not_leader` when it did not lead. */
  stepDown(to: string): Promise<boolean>;
  /** The records that the entries after `after` up to `through` archived; ended by the signal. */
  readHistory(after: LogIndex, through: LogIndex, signal: AbortSignal): AsyncIterable<HistoryPage>;
  /** Records of the audit log that have left the state. */
  readAudit(gap: AuditGap, signal: AbortSignal): AsyncIterable<AuditPage>;
  /** Returns the private key in PEM; empty when the other server does not have it. */
  getAuditKey(id: string): Promise<string>;
  /** Resolves when the other server has stored the private key. */
  putAuditKey(pem: string): Promise<void>;
  /** Proves to the other server that the caller is a server of the cluster. */
  readonly proof: Metadata;
  /** The channel itself, for relaying streams. */
  readonly channel: Client;
  /** Registers a stream that ends with this client. */
  track(end: () => void): () => void;
  close(): void;
}

/** `check`: refuses a server of another cluster. Default: the identity is not checked. */
export function connectPeer({ address, token }: PeerName, how: ChannelCredentials, check?: ClusterCheck): PeerClient {
  const proof = new Metadata();
  proof.set(PEER_TOKEN_HEADER, token);
  const channel = new Client(address, how, {
    // A paused leader keeps its connections open; keepalive detects it.
    "grpc.keepalive_time_ms": 5_000,
    // A new client must use the current certificate, so connections are not shared.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.keepalive_timeout_ms": 3_000,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    ...(check === undefined ? {} : { interceptors: [checkingCluster(address, check)] }),
  });
  // Connect now instead of with the first call.
  channel.getChannel().getConnectivityState(true);
  const streams = new Set<() => void>();
  let refused = false;
  const callUnary = (name: MethodName, request: RequestMessage, timeoutMs?: number) =>
    unary({ channel, proof }, name, request, timeoutMs).catch((error: unknown) => {
      if (isUnauthenticated(error)) refused = true;
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
      const answer = (await callUnary("Propose", request).catch(refuseRestartedLeader)) as pb.ProposeResponse;
      return { outcome: JSON.parse(answer.outcome) as Outcome, index: logIndex(Number(answer.logIndex)) };
    },
    async *readOutput(query, signal) {
      yield* outputPieces({ channel, proof }, query, signal);
    },
    memberStatus: async (timeoutMs) =>
      (await callUnary(
        "GetMemberStatus",
        create(pb.GetMemberStatusRequestSchema),
        timeoutMs,
      )) as pb.GetMemberStatusResponse,
    async stepDown(to) {
      await callUnary("StepDown", create(pb.StepDownRequestSchema, { to }));
      return true;
    },
    async liveness() {
      const answer = (await callUnary("GetLiveness", create(pb.GetLivenessRequestSchema))) as pb.GetLivenessResponse;
      return answer.nodes;
    },
    async *readHistory(after, through, signal) {
      yield* historyPages({ channel, proof }, { after, through }, signal);
    },
    async *readAudit(gap, signal) {
      yield* auditPages({ channel, proof }, gap, signal);
    },
    async getAuditKey(keyId) {
      const answer = await callUnary("GetAuditKey", create(pb.GetAuditKeyRequestSchema, { keyId }));
      return (answer as pb.GetAuditKeyResponse).privateKey;
    },
    async putAuditKey(privateKey) {
      await callUnary("PutAuditKey", create(pb.PutAuditKeyRequestSchema, { privateKey }), KEY_DEADLINE_MS);
    },
    close() {
      for (const end of streams) end();
      channel.close();
    },
  };
}

interface Connection {
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
  | "ReadAudit"
  | "GetAuditKey"
  | "PutAuditKey";

function methodOf(name: MethodName) {
  const method = METHODS[name];
  if (method === undefined) throw new Error(`PeerService has no ${name}`);
  return method;
}

type RequestMessage = Parameters<ReturnType<typeof methodOf>["requestSerialize"]>[0];

function unary(
  { channel, proof }: Connection,
  name: MethodName,
  request: RequestMessage,
  timeoutMs = CALL_DEADLINE_MS,
) {
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

async function* outputPieces({ channel, proof }: Connection, query: LogsQuery, signal: AbortSignal) {
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
    if (!signal.aborted) refuseRestartedLeader(asProblem(error as ServiceError));
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

async function* historyPages(
  { channel, proof }: Connection,
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
    // An interrupted stream must not look complete.
    throw signal.aborted ? signal.reason : asProblem(error as ServiceError);
  } finally {
    signal.removeEventListener("abort", stop);
    call.cancel();
  }
}

async function* auditPages(
  { channel, proof }: Connection,
  gap: AuditGap,
  signal: AbortSignal,
): AsyncIterable<AuditPage> {
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

/** Returns the problem that the leader sent, or `not_leader` when it cannot be reached, which is retryable. */
export function asProblem(error: ServiceError): ProblemError {
  const details = error.metadata?.get(GRPC_DETAILS_TRAILER)[0];
  if (details instanceof Uint8Array) {
    return ProblemError.of(problemFromGrpc({ code: error.code, message: error.details, detailsBin: details }));
  }
  return new ProblemError("not_leader", {
    detail: `The leader cannot be reached: ${error.details ?? error.message}.`,
  });
}

/**
 * Converts errors of forwarded calls. The caller was authorized before, so `forbidden` refers to the peer token: the
 * leader has restarted, and the election still names its previous process.
 */
export function refuseRestartedLeader(error: unknown): never {
  if (isUnauthenticated(error))
    throw new ProblemError("not_leader", {
      detail: `The leader does not accept this server as a member of the cluster. ${error.problem.detail}`,
    });
  if (error instanceof ProblemError && error.problem.code === "foreign_cluster")
    throw new ProblemError("not_leader", { detail: `The leader's address leads elsewhere: ${error.problem.detail}` });
  if (!(error instanceof ProblemError) || error.problem.code !== "forbidden") throw error;
  throw new ProblemError("not_leader", {
    detail: "The leader has restarted; an election is in progress.",
  });
}

const isUnauthenticated = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.problem.code === "unauthenticated";
