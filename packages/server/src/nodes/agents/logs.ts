// Streams output of an allocation from its agent. The server sends a request over the Connect stream; the agent answers
// by opening SendLogs. Nothing is buffered here: a slow reader exerts backpressure on the agent. Followers of one output
// share one stream.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { duration, type NodeId } from "@lattice/core";
import { logStreamToProto, ProblemError, pb } from "@lattice/wire";
import { type Clock, sleep } from "../../base/clock.ts";
import type { LogsQuery } from "../output/query.ts";
import { shareFollowers } from "../output/share.ts";
import type { AgentHub } from "./hub.ts";

/** How long an agent may take to open the requested stream. */
const OPEN_DEADLINE = duration(10_000);
/** Requests to an agent that already sends as many streams as it may. */
const BUSY_TRIES = 40;
const BUSY_PAUSE = duration(250);

type SendLogsCall = grpc.ServerReadableStream<pb.AgentLogChunk, pb.SendLogsResponse>;
type Reply = grpc.sendUnaryData<pb.SendLogsResponse>;

interface Arrival {
  readonly first: pb.AgentLogChunk;
  readonly rest: AsyncIterator<pb.AgentLogChunk>;
  readonly finish: () => void;
}

interface Waiter {
  /** The only node that may answer. */
  readonly node: NodeId;
  readonly take: (arrival: Arrival) => void;
}

export interface LogRelay {
  open(query: LogsQuery, signal: AbortSignal): AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>;
  /** The SendLogs handler. `refusal(node)` returns why the stream may not act for the node, or null. */
  receive(call: SendLogsCall, reply: Reply, refusal: (node: string) => string | null): void;
}

export function createLogRelay(hub: AgentHub, clock: Clock): LogRelay {
  const expected = new Map<string, Waiter>();
  let counter = 0;

  return { open: shareFollowers(open), receive };

  async function* open(query: LogsQuery, signal: AbortSignal) {
    const { arrival, streamId } = await requestStream(query, signal);
    try {
      let chunk: pb.AgentLogChunk | undefined = arrival.first;
      while (chunk !== undefined && !signal.aborted) {
        if (chunk.error !== "") throw new ProblemError("logs_unavailable", { detail: chunk.error });
        if (chunk.data.length > 0) yield { data: chunk.data, offset: Number(chunk.offset) };
        const next: IteratorResult<pb.AgentLogChunk> = await untilAborted(arrival.rest.next(), signal);
        chunk = next.done ? undefined : next.value;
      }
    } finally {
      hub.send(query.node, { case: "closeLogs", value: create(pb.CloseLogsSchema, { streamId }) });
      arrival.finish();
    }
  }

  async function requestStream(query: LogsQuery, signal: AbortSignal): Promise<{ arrival: Arrival; streamId: string }> {
    for (let tries = 1; ; tries += 1) {
      counter += 1;
      // Unguessable: a stream that names it supplies the output of the allocation.
      const streamId = `logs-${counter}-${randomBytes(16).toString("hex")}`;
      const arrival = await request(streamId, query, signal);
      if (!arrival.first.busy || tries === BUSY_TRIES) return { arrival, streamId };
      arrival.finish();
      await sleep(clock, BUSY_PAUSE, signal);
      signal.throwIfAborted();
    }
  }

  function request(streamId: string, query: LogsQuery, signal: AbortSignal): Promise<Arrival> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        expected.delete(streamId);
        cancel();
        signal.removeEventListener("abort", abandon);
      };
      const abandon = () => {
        settle();
        reject(signal.reason);
      };
      const cancel = clock.after(OPEN_DEADLINE, () => {
        settle();
        reject(unreachable(query));
      });
      signal.addEventListener("abort", abandon, { once: true });
      const take = (arrival: Arrival) => {
        settle();
        resolve(arrival);
      };
      expected.set(streamId, { node: query.node, take });
      const isSent = hub.send(query.node, {
        case: "openLogs",
        value: create(pb.OpenLogsSchema, {
          streamId,
          allocationId: query.allocation,
          attempt: query.attempt,
          stream: logStreamToProto(query.stream),
          tail: query.tail,
          follow: query.follow,
          offset: String(query.offset),
          sinceMs: query.sinceMs,
          untilMs: query.untilMs,
        }),
      });
      if (!isSent) {
        settle();
        reject(unreachable(query));
      }
    });
  }

  function receive(call: SendLogsCall, reply: Reply, refusal: (node: string) => string | null): void {
    const rest = call[Symbol.asyncIterator]() as AsyncIterator<pb.AgentLogChunk>;
    let finished = false;
    const finish = () => {
      if (finished) return;
      finished = true;
      reply(null, create(pb.SendLogsResponseSchema, {}));
    };
    rest.next().then(
      (first) => {
        const waiter = first.done ? undefined : expected.get(first.value.streamId);
        if (first.done || waiter === undefined) return finish();
        const why = refusal(waiter.node);
        if (why !== null) return reply({ code: grpc.status.PERMISSION_DENIED, details: why });
        waiter.take({ first: first.value, rest, finish });
      },
      () => finish(),
    );
  }
}

function untilAborted<T>(promise: Promise<IteratorResult<T>>, signal: AbortSignal): Promise<IteratorResult<T>> {
  if (signal.aborted) return Promise.resolve({ done: true, value: undefined });
  return new Promise((resolve, reject) => {
    const stop = () => resolve({ done: true, value: undefined });
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

const unreachable = (query: LogsQuery) =>
  new ProblemError("node_unreachable", {
    detail: `The agent of node ${query.node} is not connected, so its output cannot be read now.`,
    hint: "Try again when the node is back (lattice nodes shows its state).",
  });
