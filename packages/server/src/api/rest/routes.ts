// One Fastify route per REST binding of the contract. A route only reads the request and writes
// the answer; everything in between is `invoke`.

import type { Message } from "@bufbuild/protobuf";
import { pb, type Query, type Route, requestFromHttp, routes } from "@lattice/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type ApiContext,
  indexOf,
  invokeStream,
  invokeUnary,
  LOG_INDEX_HEADER,
  MIN_INDEX_HEADER,
  type RequestMeta,
  STALE_HEADER,
  type StreamMeta,
  streamStalled,
} from "../invoke.ts";
import type { RpcName } from "../rpc.ts";
import { bodyOf } from "./answer-body.ts";
import { fromOf, headersOf } from "./from.ts";
import { sendStream } from "./stream.ts";
import { chooseFormat } from "./stream-format.ts";

export function addRoutes(app: FastifyInstance, door: ApiContext): void {
  for (const route of routes()) {
    const rpc = `${route.service}.${route.method}` as RpcName;
    app.route({
      method: route.httpMethod,
      url: route.path,
      handler: route.kind === "unary" ? unary(door, route, rpc) : stream(door, route, rpc),
    });
  }
}

function unary(door: ApiContext, ownRoute: Route, ownRpc: RpcName) {
  const submits = ownRpc === "AllocationService.Submit";
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const warnings: string[] = [];
    const query = request.query as Query;
    const route = submits && isDag(request.body) ? dagRoute() : ownRoute;
    const rpc = `${route.service}.${route.method}` as RpcName;
    const message = requestFromHttp(route, inputOf(request, query), warnings);
    const answer = await invokeUnary(door, rpc, message, arrivalOf(request, query, warnings));
    reply.header("content-type", "application/json; charset=utf-8");
    reply.header(LOG_INDEX_HEADER, indexOf(door, answer));
    if (door.plane.stale()) reply.header(STALE_HEADER, "true");
    return reply.send(bodyOf(route, answer));
  };
}

/** Where allocations are submitted, a workflow of them may be as well. */
function isDag(body: unknown): boolean {
  const { dag, allocations } = (body ?? {}) as { readonly dag?: unknown; readonly allocations?: unknown };
  return Array.isArray(allocations) || (typeof dag === "object" && dag !== null && !Array.isArray(dag));
}

function dagRoute(): Route {
  const found = routes().find(({ method, httpMethod }) => method === "SubmitDag" && httpMethod === "POST");
  if (found === undefined) throw new Error("no route takes workflows");
  return found;
}

function stream(door: ApiContext, route: Route, rpc: RpcName) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { format: asked, ...query } = request.query as Query;
    const format = chooseFormat(route, request.headers.accept, typeof asked === "string" ? asked : undefined);
    const message = requestFromHttp(route, inputOf(request, query));
    resume(message, request.headers["last-event-id"]);
    const gone = new AbortController();
    let enter: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => {
      enter = resolve;
    });
    const meta: StreamMeta = { ...arrivalOf(request, query, []), signal: gone.signal, onAdmitted: enter };
    const source = invokeStream(door, rpc, message, meta);
    const headers = { [LOG_INDEX_HEADER]: String(door.plane.view().index) };
    const patienceMs = door.config.rateLimits.stalledStreamTimeout;
    const stalled = () => streamStalled(door, rpc);
    await sendStream(reply, { source, admitted, format, headers, gone, patienceMs, stalled });
  };
}

/** A browser that reconnects repeats the first URL; the header says how far it has come since. */
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
