// Requests for every route: the path with its parameters, a query or a body, some of them malformed.

import { isFlat, type Json, type Route } from "@lattice/wire";
import { jsonFor, pick, type Roll, textFor } from "./values.ts";

export interface FuzzRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string | Buffer;
}

/** Slow, or waiting for an event that never comes. */
const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  // Backups are named by the second.
  CreateBackup: ["destination"],
};

export function requestFor(roll: Roll, route: Route): FuzzRequest {
  const fields = jsonFor(roll, route.rpc.input);
  for (const name of HARMLESS[route.method] ?? []) fields[name] = "/not/allowed";
  let path = route.path;
  for (const name of route.params) {
    path = path.replace(`:${name}`, encodeURIComponent(wellFormed(paramOf(roll, fields[name]))));
    delete fields[name];
  }
  path = path.replace("::", ":");
  if (route.body === "*") return withBody(roll, route, path, fields);
  return {
    method: route.httpMethod,
    url: `${path}${queryOf(roll, route, fields)}`,
    headers: headersFor(roll),
  };
}

/** A stream in a valid or an invalid format. */
export function formatted(roll: Roll, request: FuzzRequest): FuzzRequest {
  const accept = pick(roll, ["text/event-stream", "application/x-ndjson", "text/plain", "*/*", "", "image/png"]);
  const format = roll(8) === 0 ? pick(roll, ["sse", "ndjson", "raw", "xml", ""]) : null;
  const url = format === null ? request.url : `${request.url}${request.url.includes("?") ? "&" : "?"}format=${format}`;
  const last = roll(8) === 0 ? { "last-event-id": pick(roll, ["1:0", "x", "-1", "99999999999999999999:1"]) } : {};
  return { ...request, url, headers: { ...request.headers, accept, ...last } };
}

/** An empty one would be another route. */
const paramOf = (roll: Roll, value: unknown): string =>
  typeof value === "string" && value !== "" && value.length < 500 ? value : textFor(roll).slice(0, 500) || "x";

const wellFormed = (text: string): string => text.replace(/[\ud800-\udfff]/g, "");

function queryOf(roll: Roll, route: Route, fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  const flat = new Set(route.rpc.input.fields.filter(isFlat).map(({ name }) => name));
  for (const [name, value] of Object.entries(fields)) {
    if (!flat.has(name) && roll(10) !== 0) continue;
    for (const one of Array.isArray(value) ? value : [value])
      query.append(name, typeof one === "object" ? "" : String(one));
  }
  if (roll(40) === 0) query.append("min_index", pick(roll, ["x", "-1", "1e9", "0", "1"]));
  if (roll(40) === 0) query.append("consistent", pick(roll, ["true", "1", "maybe"]));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function withBody(roll: Roll, route: Route, url: string, fields: Readonly<Record<string, unknown>>): FuzzRequest {
  if (roll(200) === 0) return { ...nested(roll), method: route.httpMethod, url };
  const headers = { ...headersFor(roll), "content-type": typeFor(roll) };
  const whole = JSON.stringify(shortened(roll, fields));
  return { method: route.httpMethod, url, headers, payload: roll(20) === 0 ? broken(roll, whole) : whole };
}

/** Small, but deeper than a stack. */
const nested = (roll: Roll): Pick<FuzzRequest, "headers" | "payload"> => ({
  headers: { ...headersFor(roll), "content-type": "application/yaml" },
  payload: pick(roll, ["[", "{", "{a: ", "- ", "? ", "{? [", "- {a: "]).repeat(1_000 + roll(20_000)),
});

/** A submission also has a short form. */
function shortened(roll: Roll, fields: Readonly<Record<string, unknown>>): unknown {
  const { allocation, ...rest } = fields as { readonly allocation?: Json };
  if (allocation === undefined || roll(2) === 0) return fields;
  return {
    ...rest,
    ...(allocation as object),
    nodes: pick<unknown>(roll, [1, "2", { min: 1, max: 2 }, "1-4", -1, {}]),
    walltime: textFor(roll),
  };
}

const typeFor = (roll: Roll): string =>
  roll(12) === 0
    ? pick(roll, ["text/plain", "application/yaml", "", "application/json; charset=latin1", "multipart/form-data"])
    : "application/json";

const headersFor = (roll: Roll): Record<string, string> => ({
  host: "localhost",
  "x-lattice-user": roll(10) === 0 ? pick(roll, ["", "a b", "%zz", "x".repeat(300), "ada"]) : "ada",
  ...(roll(30) === 0 ? { "x-lattice-tenant": pick(roll, ["art", "no good", "%00"]) } : {}),
});

function broken(roll: Roll, whole: string): string | Buffer {
  return pick<string | Buffer>(roll, [
    "",
    "{",
    "null",
    "[]",
    '"text"',
    whole.slice(0, roll(whole.length + 1)),
    `${whole}${whole}`,
    Buffer.from([0xff, 0xfe, 0x00, 0x80]),
    "[".repeat(2_000),
    `{"a":`.repeat(500),
    "a: &x [*x]",
    "a: {{}}",
  ]);
}
