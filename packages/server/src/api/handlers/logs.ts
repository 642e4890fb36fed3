// The output of an allocation from its nodes. GetLogs reads the stored output, one node after another, stdout before

import { create } from "@bufbuild/protobuf";
import { type Allocation, type Attempt, attempt, attemptOn, isFinal, type NodeId, parseNodeId } from "@lattice/core";
import { logStreamToProto, pb, timestampToMs } from "@lattice/wire";
import { invalid, unknownNode } from "../../base/problems.ts";
import type { LogsQuery } from "../../nodes/output/query.ts";
import type { Call } from "../call/call.ts";
import { merge } from "../streams/merge.ts";
import { authorizeContent } from "./content.ts";
import { type LogSource, readThrough } from "./log-follow.ts";
import { endOf } from "./watch.ts";
import { find } from "./work.ts";

// stderr. StreamLogs follows all nodes at once, waits for the start of the allocation, and continues with the next
// attempt after a requeue.

export async function* getLogs(call: Call, request: pb.LogsRequest): AsyncGenerator<pb.LogChunk> {
  const record = await find(call, request.id);
  await authorizeContent(call, "AllocationService.GetLogs", record);
  const wanted = attemptOf(record, request.attempt);
  const range = rangeOf(request);
  if (wanted === null) return;
  let left = request.limit === 0 ? Number.POSITIVE_INFINITY : request.limit;
  for (const source of sourcesOf(record, wanted, request)) {
    const query = { ...source, ...range, tail: request.tail, follow: false };
    for await (const chunk of withGaps(query, readThrough(call, query))) {
      const { data } = chunk;
      yield chunkOf(source, data.length <= left ? chunk : cut(chunk, left));
      left -= data.length;
      if (left <= 0) return;
    }
  }
}

/** The first bytes of a chunk. */
const cut = ({ data, offset, skipped }: Chunk, length: number): Chunk => ({
  data: data.subarray(0, length),
  offset: offset - data.length + length,
  skipped,
});

export async function* streamLogs(call: Call, request: pb.LogsRequest): AsyncGenerator<pb.LogChunk> {
  let record = await find(call, request.id);
  await authorizeContent(call, "AllocationService.StreamLogs", record);
  if (request.attempt > record.attempt) throw noSuchAttempt(record);
  const range = rangeOf(request);
  const seen = resumeOf(request);
  const tail = seen.positions.size > 0 ? 0 : request.tail;
  // A resumed stream continues in the newest attempt that it has shown.
  let followed = attempt(Math.max(0, seen.attempt - 1));
  let first = true;
  while (!call.signal.aborted) {
    const next = request.attempt > 0 ? attempt(request.attempt) : record.attempt;
    if (next > followed && ("nodes" in record.phase || request.node !== "" || request.attempt > 0)) {
      const sources = sourcesOf(record, next, request);
      yield* merge(
        sources.map((source) => {
          const offset = seen.positions.get(positionKey(source)) ?? range.offset;
          const query = { ...source, ...range, offset, tail: first ? tail : 0, follow: true };
          return labelled(source, withGaps(query, readThrough(call, query)));
        }),
      );
      followed = next;
      first = false;
      // A stream of a named attempt or node does not continue into the next attempt.
      if (request.attempt > 0 || request.node !== "") return;
    }
    record = await find(call, request.id);
    if (isFinal(record.phase) && record.attempt <= followed) return;
    if (record.attempt > followed && "nodes" in record.phase) continue;
    await changed(call, record);
    record = await find(call, request.id);
  }
}

function rangeOf(request: pb.LogsRequest): Pick<LogsQuery, "offset" | "sinceMs" | "untilMs"> {
  if (request.offset !== "" && !/^[0-9]{1,15}$/.test(request.offset))
    throw invalid("offset", "is not a position in a log", "Pass the offset of a chunk, in bytes.");
  const sinceMs = request.since === undefined ? 0 : timestampToMs(request.since);
  const untilMs = request.until === undefined ? 0 : timestampToMs(request.until);
  if (untilMs > 0 && untilMs < sinceMs) throw invalid("until", "is before since");
  return { offset: Number(request.offset), sinceMs, untilMs };
}

interface Seen {
  readonly attempt: number;
  readonly positions: ReadonlyMap<string, number>;
}

/** For a resumed stream: the newest attempt it has shown, and the position in each log. */
function resumeOf(request: pb.LogsRequest): Seen {
  const positions = new Map<string, number>();
  let newest = 0;
  for (const [i, text] of request.resume.entries()) {
    const match = /^([0-9]{1,6}):([^:]{1,63}):(stdout|stderr):([0-9]{1,15})$/.exec(text);
    if (match === null) throw invalid(`resume[${i}]`, "is not attempt:node:stream:offset");
    newest = Math.max(newest, Number(match[1]));
    positions.set(`${match[1]}:${match[2]}:${match[3]}`, Number(match[4]));
  }
  return { attempt: newest, positions };
}

const positionKey = ({ attempt: number, node, stream }: LogSource): string => `${number}:${node}:${stream}`;

/** Returns `null` when the allocation was never placed. */
function attemptOf(record: Allocation, requested: number): Attempt | null {
  if (requested > record.attempt) throw noSuchAttempt(record);
  const wanted = requested === 0 ? record.attempt : attempt(requested);
  return wanted === 0 ? null : wanted;
}

const noSuchAttempt = (record: Allocation) =>
  invalid("attempt", `is after the newest attempt, ${record.attempt}`, "Omit it to read the newest attempt.");

function sourcesOf(record: Allocation, wanted: Attempt, request: pb.LogsRequest): LogSource[] {
  const streams = streamsOf(request.stream);
  return nodesOf(record, wanted, request).flatMap((node) =>
    streams.map((stream) => ({
      allocation: record.id,
      // Nodes that were added to a service have attempts of their own.
      attempt: request.attempt === 0 ? attemptOn(record, node) : wanted,
      node,
      stream,
    })),
  );
}

function nodesOf(
  record: Allocation,
  wanted: Attempt,
  { node: named, attempt: requested }: pb.LogsRequest,
): readonly NodeId[] {
  const { nodes, all } = knownNodes(record, wanted, requested);
  if (named === "") {
    if (nodes.length > 0) return nodes;
    throw invalid("node", `must be given: the nodes of attempt ${wanted} are no longer recorded`);
  }
  const node = parseNodeId(named);
  if (node === null) throw unknownNode(named);
  if (all && !nodes.includes(node))
    throw invalid("node", `"${named}" did not run attempt ${wanted}`, `Its nodes are ${listed(nodes)}.`);
  return [node];
}

/** Keeps the error message short. */
const MAX_LISTED = 10;

const listed = (nodes: readonly NodeId[]): string =>
  nodes.slice(0, MAX_LISTED).join(", ") + (nodes.length > MAX_LISTED ? ` and ${nodes.length - MAX_LISTED} more` : "");

interface KnownNodes {
  readonly nodes: readonly NodeId[];
  /** Whether the list is complete. */
  readonly all: boolean;
}

/** Records of earlier attempts keep only the first nodes. Nodes that joined a service have their own attempts. */
function knownNodes(record: Allocation, wanted: Attempt, requested: number): KnownNodes {
  const { phase, past } = record;
  const before = past?.attempts.findLast((each) => each.attempt === wanted);
  if (before !== undefined) return { nodes: before.nodes, all: before.nodes.length === before.nodeCount };
  if (!("nodes" in phase)) return { nodes: [], all: false };
  const nodes = requested === 0 ? phase.nodes : phase.nodes.filter((node) => attemptOn(record, node) === wanted);
  return { nodes, all: nodes.length > 0 };
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
  // If it changed between the two reads, there is nothing to wait for.
  if (view.allocation(record.id) !== record) return;
  for await (const batch of call.plane.events(endOf(view.index), call.signal))
    if (batch.some(({ event }) => event.allocation === record.id)) return;
}

async function* labelled(source: LogSource, chunks: AsyncIterable<Chunk>): AsyncGenerator<pb.LogChunk> {
  for await (const chunk of chunks) yield chunkOf(source, chunk);
}

const chunkOf = (source: LogSource, { data, offset, skipped }: Chunk): pb.LogChunk =>
  create(pb.LogChunkSchema, {
    node: source.node,
    stream: logStreamToProto(source.stream),
    data,
    offset: String(offset),
    attempt: source.attempt,
    skipped: skipped === 0 ? "" : String(skipped),
  });

// to output from nodes and from the archive. A request by lines or by time starts at its first byte, so nothing is
// missing before it.

interface Chunk {
  readonly data: Uint8Array;
  /** The position after the chunk. */
  readonly offset: number;
  /** Missing bytes before the chunk. */
  readonly skipped: number;
}

async function* withGaps(
  { tail, sinceMs, untilMs, offset: requested }: Pick<LogsQuery, "tail" | "sinceMs" | "untilMs" | "offset">,
  chunks: AsyncIterable<Pick<Chunk, "data" | "offset">>,
): AsyncGenerator<Chunk> {
  let position = tail > 0 || sinceMs > 0 || untilMs > 0 ? null : requested;
  for await (const { data, offset } of chunks) {
    const start = offset - data.length;
    const skipped = position === null ? 0 : Math.max(0, start - position);
    position = offset;
    yield { data, offset, skipped };
  }
}
