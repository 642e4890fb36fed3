// Rows for tests of every route: caller, owner, interface, and the expected result by the access rules. The rows cover
// the contract and the further routes of a server; a test compares them with the routes that are served.

import { create, type Message } from "@bufbuild/protobuf";
import { pb, type Route, routes, toJson } from "@lattice/wire";
import { reaches, reachOf } from "../../src/api/access/authorize.ts";
import { PROXY_NAME, RULES, type RuleName } from "../../src/api/access/rules.ts";
import type { RpcName } from "../../src/api/call/rpc.ts";
import type { Principal } from "../../src/base/auth/principal.ts";
import { restOn } from "./clients.ts";
import type { MemoryPlane } from "./memory-plane.ts";
import { allowed, type Owner, RPCS, requestFor, target } from "./walk.ts";
import type { Caller } from "./walk-callers.ts";
import type { Interfaces, Seen } from "./walk-interfaces.ts";

/** One route or RPC, for any caller. */
export interface Endpoint {
  readonly name: string;
  /** `null` for a public one. */
  readonly rule: RuleName | null;
  /** Distinguishes its requests; equal ones are sent once. */
  about(owner: Owner): string;
  /** For authenticated callers. */
  may(principal: Principal, owner: Owner): boolean;
  ask(owner: Owner, token: string | null): Promise<Seen>;
}

export interface Row {
  readonly endpoint: Endpoint;
  readonly caller: Caller;
  readonly owner: Owner;
  readonly may: boolean;
}

export const rowsOf = (endpoints: readonly Endpoint[], callers: readonly Caller[]): readonly Row[] =>
  endpoints.flatMap((endpoint) =>
    callers.flatMap((caller) =>
      distinct(endpoint, caller.asks).map((owner) => {
        const { principal } = caller;
        return {
          endpoint,
          caller,
          owner,
          may: principal === null ? endpoint.rule === null : endpoint.may(principal, owner),
        };
      }),
    ),
  );

const distinct = (endpoint: Endpoint, owners: readonly Owner[]): readonly Owner[] => [
  ...new Map(owners.map((owner) => [endpoint.about(owner), owner])).values(),
];

/** Services out of reach are not found rather than forbidden. */
const HIDDEN: readonly (RuleName | null)[] = [PROXY_NAME, "AdminService.LookupService"];
const isHidden = ({ rule }: Endpoint, { code }: Seen): boolean =>
  HIDDEN.includes(rule) && (code === "unknown_service" || code === "404");

/** Returns `null` when the result is as expected. Internal errors and rate limits are failures. */
export function wrongWith({ endpoint, caller, owner, may }: Row, seen: Seen): string | null {
  const told = (what: string): string =>
    `${caller.name}, ${endpoint.name}, ${owner}'s: ${what} (${seen.code} ${seen.text.slice(0, 120)})`;
  if (may && (seen.refused || isHidden(endpoint, seen))) return told("is refused");
  if (!may && !seen.refused && !isHidden(endpoint, seen)) return told("is let in");
  if (caller.principal === null && !may && !/^(?:unauthenticated|401)$/.test(seen.code))
    return told("is taken for another");
  if (/^(internal|rate_limited|too_many_streams|5\d\d)$/.test(seen.code)) return told("is not answered");
  if (endpoint.rule === null || caller.principal === null) return null;
  const reach = reachOf(caller.principal, endpoint.rule);
  if (reach === "all") return null;
  if (reach === "own" && caller.user === "ada" && may && /"bob"/.test(seen.text)) return told("sees a colleague's");
  const others = caller.user === "eve" ? /"(?:ada|bob)"|"physics"/ : owner === "eve" ? null : /\beve\b|biology/;
  return others?.test(seen.text) === true && (may || caller.user === "eve") ? told("sees a stranger's") : null;
}

/** The addresses of the server. */
export interface Place {
  readonly interfaces: Interfaces;
  readonly plane: MemoryPlane;
  /** Whether the work is sensitive. */
  readonly sensitive: boolean;
}

/** Every route of the contract and of the server. */
export function restEndpoints(place: Place, pages: readonly string[]): readonly Endpoint[] {
  return [
    ...routes().map((route) => contractEndpoint(place, route)),
    ...BASES.flatMap((base) =>
      ["", "/deep/er?x=1"].flatMap((rest) => PROXY_METHODS.map((method) => proxyEndpoint(place, method, base, rest))),
    ),
    ...pages.map((page) => pageEndpoint(place, page)),
  ];
}

const BASES = ["/api/v1", "/v1"] as const;
const PROXY_METHODS = ["GET", "HEAD", "TRACE", "DELETE", "OPTIONS", "PATCH", "PUT", "POST", "QUERY"] as const;

function contractEndpoint({ interfaces, plane, sensitive }: Place, route: Route): Endpoint {
  const rpc = RPCS.find(({ name }) => name === `${route.service}.${route.method}`);
  if (rpc === undefined) throw new Error(`${route.path} has no RPC`);
  // The same RPC with and without a named object.
  const oneWatched = rpc.name === "AllocationService.Watch" && route.params.includes("allocation_id");
  const requestOf = (owner: Owner): Message =>
    oneWatched
      ? create(pb.WatchRequestSchema, { allocationId: idOf(plane, owner), cursor: "1" })
      : requestFor(rpc, owner, plane);
  return {
    name: `${route.httpMethod} ${route.path}`,
    rule: rpc.name,
    about: (owner) => JSON.stringify(toJson(rpc.input, requestOf(owner))),
    may: (principal, owner) =>
      oneWatched
        ? reaches(principal, rpc.name, target(owner, sensitive))
        : allowed(rpc.name, principal, owner, sensitive),
    ask: (owner, token) => interfaces.rest(restOn(route, requestOf(owner)), token, !rpc.unary),
  };
}

const idOf = (plane: MemoryPlane, owner: Owner): string =>
  [...plane.view().allocations()].find(({ user, dag }) => user === owner && dag === undefined)?.id ?? "";

const reached =
  (rule: RuleName, { sensitive }: Place): Endpoint["may"] =>
  (principal, owner) =>
    reaches(principal, rule, target(owner, sensitive));

const proxyEndpoint = (place: Place, method: string, base: string, rest: string): Endpoint => ({
  name: `${method} ${base}/services/:name/proxy${rest}`,
  rule: PROXY_NAME,
  about: String,
  may: reached(PROXY_NAME, place),
  ask: (owner, token) => {
    const path = `${base}/services/of-${owner}/proxy${rest}`;
    // The only method that needs a body.
    const body = method === "QUERY" ? { headers: { "content-type": "text/plain" }, body: "what" } : {};
    return place.interfaces.rest({ method, path, ...body }, token);
  },
});

function pageEndpoint({ interfaces }: Place, page: string): Endpoint {
  const [method = "", path = ""] = page.split(" ");
  return {
    name: page,
    rule: null,
    about: () => page,
    may: () => true,
    ask: (_owner, token) => interfaces.rest({ method, path }, token),
  };
}

/** The WebSocket routes. */
export function socketEndpoints(place: Place): readonly Endpoint[] {
  const { interfaces, plane } = place;
  const endpoint = (rule: RuleName, path: (owner: Owner) => string): Endpoint => ({
    name: `WebSocket ${path("ada")}`,
    rule,
    about: path,
    may: reached(rule, place),
    ask: (owner, token) => interfaces.upgrade(path(owner), token),
  });
  return BASES.flatMap((base) => [
    endpoint("SessionService.Attach", (owner) => `${base}/allocations/${idOf(plane, owner)}/attach`),
    endpoint("SessionService.Attach", (owner) => `${base}/sessions/${idOf(plane, owner)}.1/terminal`),
    endpoint(PROXY_NAME, (owner) => `${base}/services/of-${owner}/proxy/ws`),
  ]);
}

/** Every RPC, including terminals. */
export function grpcEndpoints(place: Place): readonly Endpoint[] {
  const { interfaces, plane, sensitive } = place;
  const attach: RpcName = "SessionService.Attach";
  return [
    ...RPCS.map(
      (rpc): Endpoint => ({
        name: rpc.name,
        rule: rpc.name,
        about: (owner) => JSON.stringify(toJson(rpc.input, requestFor(rpc, owner, plane))),
        may: (principal, owner) => allowed(rpc.name, principal, owner, sensitive),
        ask: (owner, token) => interfaces.grpc(rpc.name, requestFor(rpc, owner, plane), token),
      }),
    ),
    {
      name: attach,
      rule: attach,
      about: String,
      may: reached(attach, place),
      ask: (owner, token) => {
        const value = { id: idOf(plane, owner) };
        return interfaces.grpc(attach, create(pb.AttachRequestSchema, { message: { case: "start", value } }), token);
      },
    },
  ];
}

/** Whether a successful call may change the state. */
export function changes({ endpoint: { rule }, may }: Row): boolean {
  const verb = rule === null ? "read" : RULES[rule].verb;
  // Opening a terminal has an audit record.
  return may && (verb === "change" || verb === "attach");
}
