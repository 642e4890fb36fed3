// The output of an allocation, from the nodes that ran it. GetLogs reads what is there, one node
// after another, stdout before stderr. StreamLogs follows all of them at once, waits for a start
// that is still to come, and goes on into the next attempt when one is requeued.

import { create } from "@bufbuild/protobuf";
import { type Allocation, type Attempt, attempt, isFinal, type NodeId, parseNodeId } from "@lattice/core";
import { logStreamToProto, pb } from "@lattice/wire";
import { authorize } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { merge } from "../streams/merge.ts";
import { find, ownerOf } from "./allocations.ts";
import { followLog, type LogSource } from "./log-follow.ts";
import { invalid, unknownNode } from "./refuse.ts";
import { endOf } from "./watch.ts";

export async function* getLogs(call: Call, request: pb.LogsRequest): AsyncGenerator<pb.LogChunk> {
  const record = await find(call, request.id);
  authorize(call.principal, "AllocationService.GetLogs", ownerOf(record));
  const wanted = attemptOf(record, request.attempt);
  if (wanted === null) return;
  for (const source of sourcesOf(record, wanted, request)) {
    for await (const chunk of call.plane.logs({ ...source, tail: request.tail, follow: false }, call.signal))
      yield chunkOf(source, chunk);
  }
}

export async function* streamLogs(call: Call, request: pb.LogsRequest): AsyncGenerator<pb.LogChunk> {
  let record = await find(call, request.id);
  authorize(call.principal, "AllocationService.StreamLogs", ownerOf(record));
  if (request.attempt > record.attempt) throw noSuchAttempt(record);
  let followed = attempt(0);
  while (!call.signal.aborted) {
    const next = request.attempt > 0 ? attempt(request.attempt) : record.attempt;
    if (next > followed && ("nodes" in record.phase || request.node !== "" || request.attempt > 0)) {
      const tail = followed === 0 ? request.tail : 0;
      const sources = sourcesOf(record, next, request);
      yield* merge(sources.map((source) => labelled(source, followLog(call, { ...source, tail }))));
      followed = next;
      // A named attempt or node is followed for its own sake, not into the next attempt.
      if (request.attempt > 0 || request.node !== "") return;
    }
    record = await find(call, request.id);
    if (isFinal(record.phase) && record.attempt <= followed) return;
    if (record.attempt > followed && "nodes" in record.phase) continue;
    await changed(call, record);
    record = await find(call, request.id);
  }
}

/** Null: it was never placed, so there is nothing yet. */
function attemptOf(record: Allocation, asked: number): Attempt | null {
  if (asked > record.attempt) throw noSuchAttempt(record);
  const wanted = asked === 0 ? record.attempt : attempt(asked);
  return wanted === 0 ? null : wanted;
}

const noSuchAttempt = (record: Allocation) =>
  invalid("attempt", `is beyond the newest attempt, ${record.attempt}`, "Leave it out to read the newest.");

function sourcesOf(record: Allocation, wanted: Attempt, request: pb.LogsRequest): LogSource[] {
  const streams = streamsOf(request.stream);
  return nodesOf(record, wanted, request.node).flatMap((node) =>
    streams.map((stream) => ({ allocation: record.id, attempt: wanted, node, stream })),
  );
}

/** The record knows the nodes of its newest attempt only. */
function nodesOf(record: Allocation, wanted: Attempt, named: string): readonly NodeId[] {
  const known = wanted === record.attempt && "nodes" in record.phase ? record.phase.nodes : null;
  if (named === "") {
    if (known !== null) return known;
    throw invalid("node", `must be given: the nodes of attempt ${wanted} are no longer recorded`);
  }
  const node = parseNodeId(named);
  if (node === null) throw unknownNode(named);
  if (known !== null && !known.includes(node))
    throw invalid("node", `did not run attempt ${wanted}`, `Its nodes are ${known.slice(0, 10).join(", ")}.`);
  return [node];
}

function streamsOf(stream: pb.LogStream): readonly ("stdout" | "stderr")[] {
  if (stream === pb.LogStream.UNSPECIFIED) return ["stdout", "stderr"];
  if (stream === pb.LogStream.STDOUT) return ["stdout"];
  if (stream === pb.LogStream.STDERR) return ["stderr"];
  throw invalid("stream", `${stream} is not a stream`, "The streams are stdout and stderr.");
}

/** Resolves at the next event about the allocation after the state that `record` was read from. */
async function changed(call: Call, record: Allocation): Promise<void> {
  const view = call.plane.view();
  // It may have moved between the two reads; then there is nothing to wait for.
  if (view.allocation(record.id) !== record) return;
  for await (const batch of call.plane.events(endOf(view.index), call.signal))
    if (batch.some(({ event }) => event.allocation === record.id)) return;
}

async function* labelled(source: LogSource, chunks: AsyncIterable<Chunk>): AsyncGenerator<pb.LogChunk> {
  for await (const chunk of chunks) yield chunkOf(source, chunk);
}

interface Chunk {
  readonly data: Uint8Array;
  readonly offset: number;
}

const chunkOf = (source: LogSource, { data, offset }: Chunk): pb.LogChunk =>
  create(pb.LogChunkSchema, {
    node: source.node,
    stream: logStreamToProto(source.stream),
    data,
    offset: String(offset),
  });
