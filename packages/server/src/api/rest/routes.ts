// One Fastify route per REST binding of the contract. A route only reads the request and writes

import type { ServerResponse } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { jsonPieces, pb, problemOf, type Query, type Route, requestFromHttp, routes } from "@lattice/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RpcName } from "../call/rpc.ts";
import {
  type ApiContext,
  answerHeaders,
  type Item,
  indexOf,
  invokeStream,
  invokeUnary,
  MIN_INDEX_HEADER,
  type RequestMeta,
  STALE_HEADER,
  type StreamMeta,
  streamStalled,
} from "../invoke/invoke.ts";
import { STREAM_KEEPALIVE_MS, STREAM_START_GRACE_MS } from "../limits/limits.ts";
import { drained } from "../streams/drained.ts";
import { encodeItem } from "./encode-item.ts";
import { fromOf, headersOf } from "./proxy/from.ts";
import { chooseFormat, type StreamFormat } from "./stream-format.ts";

// the answer; everything in between is `invoke`.

export function addRoutes(app: FastifyInstance, api: ApiContext): void {
  for (const route of routes()) {
    const rpc = `${route.service}.${route.method}` as RpcName;
    app.route({
      method: route.httpMethod,
      url: route.path,
      handler: route.kind === "unary" ? unary(api, route, rpc) : stream(api, route, rpc),
    });
  }
}

function unary(api: ApiContext, ownRoute: Route, ownRpc: RpcName) {
  const submits = ownRpc === "AllocationService.Submit";
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const warnings: string[] = [];
    const query = request.query as Query;
    const route = submits && isDag(request.body) ? dagRoute() : ownRoute;
    const rpc = `${route.service}.${route.method}` as RpcName;
    const message = requestFromHttp(route, inputOf(request, query), warnings);
    const answer = await invokeUnary(api, rpc, message, arrivalOf(request, query, warnings));
    reply.header("content-type", "application/json; charset=utf-8");
    reply.headers(answerHeaders(api, indexOf(api, answer)));
    if (api.plane.stale()) reply.header(STALE_HEADER, "true");
    return reply.send(bodyOf(route, answer));
  };
}

/** DAGs may be submitted to the path of allocations. */
function isDag(body: unknown): boolean {
  const { dag, allocations } = (body ?? {}) as { readonly dag?: unknown; readonly allocations?: unknown };
  return Array.isArray(allocations) || (typeof dag === "object" && dag !== null && !Array.isArray(dag));
}

function dagRoute(): Route {
  const found = routes().find(({ method, httpMethod }) => method === "SubmitDag" && httpMethod === "POST");
  if (found === undefined) throw new Error("the contract has no route for SubmitDag");
  return found;
}

function stream(api: ApiContext, route: Route, rpc: RpcName) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { format: requested, ...query } = request.query as Query;
    const format = chooseFormat(route, request.headers.accept, typeof requested === "string" ? requested : undefined);
    const message = requestFromHttp(route, inputOf(request, query));
    resume(message, request.headers["last-event-id"]);
    const gone = new AbortController();
    let enter: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => {
      enter = resolve;
    });
    const meta: StreamMeta = { ...arrivalOf(request, query, []), signal: gone.signal, onAdmitted: enter };
    const source = invokeStream(api, rpc, message, meta);
    const headers = answerHeaders(api, String(api.plane.view().index));
    const stallTimeoutMs = api.config.rateLimits.stalledStreamTimeout;
    const stalled = () => streamStalled(api, rpc);
    await sendStream(reply, { source, admitted, format, headers, gone, stallTimeoutMs, stalled });
  };
}

/** A browser that reconnects repeats the first URL; the header has the last received cursor. */
function resume(message: Message, lastEventId: string | string[] | undefined): void {
  if (typeof lastEventId !== "string" || lastEventId === "") return;
  if (message.$typeName === pb.WatchRequestSchema.typeName) (message as pb.WatchRequest).cursor = lastEventId;
  if (message.$typeName === pb.ListEventsRequestSchema.typeName) (message as pb.ListEventsRequest).cursor = lastEventId;
}

const inputOf = (request: FastifyRequest, query: Query) => ({
  params: request.params as Record<string, string>,
  query,
  body: request.body,
});

function arrivalOf(request: FastifyRequest, query: Query, warnings: readonly string[]): RequestMeta {
  const { headers } = request;
  const minIndex = query.min_index ?? headers[MIN_INDEX_HEADER];
  return {
    headers: headersOf(request.raw),
    from: fromOf(request),
    minIndex: minIndex === undefined ? undefined : String(minIndex),
    consistent: query.consistent === "true" || query.consistent === "1",
    warnings,
  };
}

// encoded record by record into one buffer, since a large string would be copied several times.

/** Two records of most lists. */
const MAX_TEXT = 4_096;

function bodyOf(route: Route, answer: Message): string | Buffer {
  const pieces = jsonPieces(route.rpc.output, answer);
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length <= MAX_TEXT ? pieces.join("") : encoded(pieces);
}

function encoded(pieces: readonly string[]): Buffer {
  let bytes = 0;
  for (const piece of pieces) bytes += Buffer.byteLength(piece);
  const body = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const piece of pieces) at += body.write(piece, at);
  return body;
}

interface StreamJob {
  readonly source: AsyncIterator<Item>;
  /** Resolves when the caller is authenticated and within its limits. */
  readonly admitted: Promise<void>;
  readonly format: StreamFormat;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects. */
  readonly gone: AbortController;
  /** How long a client may stop reading. */
  readonly stallTimeoutMs: number;
  readonly stalled: () => void;
}

/** Rejects, with nothing sent, when the source fails at once. */
async function sendStream(reply: FastifyReply, job: StreamJob): Promise<void> {
  const { raw } = reply;
  raw.once("close", () => job.gone.abort());
  const first = job.source.next();
  await Promise.race([first, job.admitted.then(startGrace)]);
  reply.hijack();
  raw.writeHead(200, {
    ...job.headers,
    "content-type": job.format.contentType,
    "cache-control": "no-store",
    // Proxies must not buffer events.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  await pump(raw, job, first);
}

/** Time for an early refusal to become a status. */
function startGrace(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, STREAM_START_GRACE_MS));
}

async function pump(raw: ServerResponse, job: StreamJob, first: Promise<IteratorResult<Item>>): Promise<void> {
  const { format, source } = job;
  const timer = setInterval(() => {
    if (format.keepalive !== null && !raw.writableNeedDrain) raw.write(format.keepalive);
  }, STREAM_KEEPALIVE_MS);
  try {
    for (let next = await first; next.done !== true; next = await source.next()) {
      if (raw.destroyed) return;
      if (!raw.write(encodeItem(format, next.value)) && !raw.destroyed) await drained(raw, job.stallTimeoutMs);
    }
    raw.end();
  } catch (error) {
    if (problemOf(error).code === "stream_stalled") {
      job.stalled();
      destroyAfter(raw, job.stallTimeoutMs);
    }
    const failure = format.failure(problemOf(error));
    if (failure === null) raw.destroy();
    else raw.end(failure);
  } finally {
    clearInterval(timer);
    await source.return?.();
  }
}

/** The failure comes after the unread bytes, so the client gets the same time again to read it. */
function destroyAfter(raw: ServerResponse, timeoutMs: number): void {
  const timer = setTimeout(() => raw.destroy(), timeoutMs);
  timer.unref();
  raw.once("close", () => clearTimeout(timer));
}
