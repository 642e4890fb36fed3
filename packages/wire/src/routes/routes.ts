// The REST routes, from the `google.api.http` options of the RPCs, so that REST has every call of gRPC. Every `/api/v1`
// path has the alias `/v1`.

import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/google/api/http_pb.ts";
import { AccessService } from "../../gen/lattice/v1/access_pb.ts";
import { AdminService } from "../../gen/lattice/v1/admin_pb.ts";
import { AllocationService } from "../../gen/lattice/v1/allocations_pb.ts";
import { DagService } from "../../gen/lattice/v1/dags_pb.ts";
import { EventService } from "../../gen/lattice/v1/events_pb.ts";
import { ImageService } from "../../gen/lattice/v1/images_pb.ts";
import { NetworkService } from "../../gen/lattice/v1/networks_pb.ts";
import { NodeService } from "../../gen/lattice/v1/nodes_pb.ts";
import { TaskService } from "../../gen/lattice/v1/tasks_pb.ts";
import { SessionService } from "../../gen/lattice/v1/terminal_pb.ts";

type HttpMethod = "GET" | "PUT" | "POST" | "DELETE" | "PATCH";

export interface Route {
  /** Short service name, for example "AllocationService". */
  readonly service: string;
  /** RPC name, for example "Submit". */
  readonly method: string;
  readonly rpc: DescMethod;
  readonly httpMethod: HttpMethod;
  /** In Fastify's syntax: `/api/v1/allocations/:id`. */
  readonly path: string;
  /** Names of the path parameters, which are fields of the request. */
  readonly params: readonly string[];
  /** "*": the body is the request; "": the request has no body, its fields come from the query. */
  readonly body: "*" | "";
  readonly kind: "unary" | "server_stream";
  /** An additional binding or the `/v1` spelling of another route. */
  readonly alias: boolean;
}

/** The services that have REST routes, in the order of the documentation. */
export const REST_SERVICES: readonly DescService[] = [
  AllocationService,
  DagService,
  SessionService,
  NodeService,
  TaskService,
  AdminService,
  ImageService,
  EventService,
  NetworkService,
  AccessService,
];

export function routes(): Route[] {
  return REST_SERVICES.flatMap((service) => service.methods.flatMap(routesOf));
}

function routesOf(rpc: DescMethod): Route[] {
  const rule = getOption(rpc, http);
  const main = binding(rpc, rule);
  if (main === null) return [];
  const further = rule.additionalBindings.flatMap((extra) => binding(rpc, extra) ?? []);
  const all = [main, ...further.map((route) => ({ ...route, alias: true }))];
  return [...all, ...all.flatMap(shortSpelling)];
}

function binding(rpc: DescMethod, { pattern, body }: HttpRule): Route | null {
  if (pattern.case === undefined) return null;
  if (rpc.methodKind !== "unary" && rpc.methodKind !== "server_streaming") {
    throw new Error(`${rpc.name}: only unary and server-streaming RPCs can have REST routes`);
  }
  const params = [...pattern.value.matchAll(/\{([a-z0-9_]+)\}/g)].map((match) => match[1] ?? "");
  return {
    service: rpc.parent.name,
    method: rpc.name,
    rpc,
    httpMethod: pattern.case.toUpperCase() as HttpMethod,
    // Fastify needs a literal colon, as in `allocations:plan`, to be doubled.
    path: pattern.value.replaceAll(":", "::").replace(/\{([a-z0-9_]+)\}/g, ":$1"),
    params,
    body: body === "*" ? "*" : "",
    kind: rpc.methodKind === "unary" ? "unary" : "server_stream",
    alias: false,
  };
}

const shortSpelling = (route: Route): Route[] =>
  route.path.startsWith("/api/v1/") ? [{ ...route, path: route.path.slice("/api".length), alias: true }] : [];
