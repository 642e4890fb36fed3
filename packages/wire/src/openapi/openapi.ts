// Generates the OpenAPI 3.1 description of the REST API from the descriptors of the routes, so that the two cannot
// differ.

import type { DescMethod } from "@bufbuild/protobuf";
import { LogChunkSchema, SubmitRequestSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { ProblemSchema } from "../../gen/lattice/v1/problem_pb.ts";
import { ERRORS } from "../errors/catalogue.ts";
import { PROBLEM_MEDIA_TYPE } from "../errors/problem-json.ts";
import { durationName, durationsOf } from "../json/durations.ts";
import type { Json, JsonObject } from "../json/value.ts";
import { isFlat } from "../routes/query.ts";
import { type Route, routes } from "../routes/routes.ts";
import { fieldSchema, messagesIn, refTo, schemasOf } from "./schemas.ts";
import { DURATION, SHORT_REQUEST_PROPERTIES } from "./short-requests.ts";
import { SHORT_SUBMISSION } from "./short-submission.ts";

interface OpenApiOptions {
  /** The version of Lattice. */
  readonly version?: string;
  readonly serverUrl?: string;
}

export interface OpenApiDocument extends JsonObject {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly [key: string]: Json };
  /** Path to method to operation. */
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } };
  readonly components: JsonObject;
}

interface OpenApiOperation extends JsonObject {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
}

export function openapi({ version = "0.1.0", serverUrl = "/" }: OpenApiOptions = {}): OpenApiDocument {
  const shown = routes().filter((route) => route.path.startsWith("/api/v1/"));
  const messages = shown.flatMap(({ rpc }) => [rpc.input, rpc.output]);
  const schemas = schemasOf([...messages, ProblemSchema]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Lattice",
      version,
      description:
        "A distributed workload scheduler for HPC and AI. Every path under /api/v1 also answers under /v1. " +
        "Bodies are JSON or YAML; unknown fields are refused.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(shown.map(tagOf))].map((name) => ({ name })),
    paths: pathsOf(shown),
    components: {
      schemas: { ...schemas, ...takenAlso(shown, schemas), ...problemSchema(), ShortSubmission: SHORT_SUBMISSION },
      responses: {
        Problem: {
          description: "What went wrong, with a hint and the fields concerned (RFC 9457).",
          content: { [PROBLEM_MEDIA_TYPE]: { schema: refTo("Problem") } },
        },
      },
    },
  };
}

/** Request forms beyond the contract: durations as text, and short forms. */
function takenAlso(shown: readonly Route[], schemas: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const out: Record<string, JsonObject> = {};
  for (const desc of messagesIn(shown.map(({ rpc }) => rpc.input))) {
    const durations = Object.fromEntries([...durationsOf(desc).keys()].map((name) => [name, DURATION]));
    const short = SHORT_REQUEST_PROPERTIES[desc.name] ?? {};
    const properties = { ...(schemas[desc.name]?.properties as JsonObject | undefined), ...durations, ...short };
    out[desc.name] = { ...schemas[desc.name], properties };
  }
  return out;
}

function pathsOf(shown: readonly Route[]): OpenApiDocument["paths"] {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const seen = new Map<string, number>();
  for (const route of shown) {
    const path = route.path.replace(/(?<!:):([a-z0-9_]+)/g, "{$1}").replaceAll("::", ":");
    const name = `${route.service}_${route.method}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    paths[path] ??= {};
    paths[path][route.httpMethod.toLowerCase()] = operation(route, times === 1 ? name : `${name}_${times}`);
  }
  return paths;
}

function operation(route: Route, operationId: string): OpenApiOperation {
  const parameters = [...pathParameters(route), ...queryParameters(route)];
  return {
    operationId,
    summary: summaryOf(route),
    tags: [tagOf(route)],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === "*" ? { requestBody: requestBody(route) } : {}),
    responses: { "200": answer(route), default: { $ref: "#/components/responses/Problem" } },
  };
}

const tagOf = ({ service }: Route): string => service.replace(/Service$/, "").toLowerCase();

/** Converts "CreateVCluster" to "Create vcluster"; the allocation service omits its noun. */
function summaryOf({ service, method }: Route): string {
  const words = method
    .replace("VCluster", "Vcluster")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
  const noun =
    service === "AllocationService" && !words.includes(" ") ? ` allocation${words === "list" ? "s" : ""}` : "";
  return words.charAt(0).toUpperCase() + words.slice(1) + noun;
}

const pathParameters = ({ params }: Route): JsonObject[] =>
  params.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));

function queryParameters({ rpc, body, params, httpMethod, kind }: Route): JsonObject[] {
  const fields = body === "*" ? [] : rpc.input.fields.filter((field) => isFlat(field) && !params.includes(field.name));
  const own = fields.flatMap((field) => {
    const text = durationName(field);
    const written = { name: field.name, in: "query", schema: fieldSchema(field) };
    return text === null ? [written] : [written, { name: text, in: "query", schema: DURATION }];
  });
  if (kind === "server_stream") return [...own, formatParameter(rpc)];
  return httpMethod === "GET" ? [...own, ...READ_PARAMETERS] : own;
}

const formatParameter = (rpc: DescMethod): JsonObject => ({
  name: "format",
  in: "query",
  description: "The form of the stream, for clients that cannot set the Accept header.",
  schema: { type: "string", enum: [...(isLog(rpc) ? ["raw"] : []), "ndjson", "sse"] },
});

const READ_PARAMETERS: readonly JsonObject[] = [
  {
    name: "consistent",
    in: "query",
    description: "Wait for everything that was durable when the request came in.",
    schema: { type: "boolean" },
  },
  {
    name: "min_index",
    in: "query",
    description: "The least log index that the answer must include.",
    schema: { type: "string" },
  },
];

function requestBody({ rpc }: Route): JsonObject {
  const submits = rpc.input.typeName === SubmitRequestSchema.typeName;
  const schema = submits ? { anyOf: [refTo(rpc.input.name), refTo("ShortSubmission")] } : refTo(rpc.input.name);
  return { required: submits, content: { "application/json": { schema }, "application/yaml": { schema } } };
}

function answer({ rpc, kind }: Route): JsonObject {
  if (kind === "unary") {
    return { description: "Done.", content: { "application/json": { schema: refTo(rpc.output.name) } } };
  }
  const each = { type: "string", description: `One ${rpc.output.name} as JSON for each line or event.` };
  const raw = { "text/plain": { schema: { type: "string", description: "The bytes of the log." } } };
  return {
    description: "A stream, in the form that the Accept header or `format` asks for.",
    content: {
      "application/x-ndjson": { schema: each },
      "text/event-stream": { schema: each },
      ...(isLog(rpc) ? raw : {}),
    },
  };
}

const isLog = (rpc: DescMethod): boolean => rpc.output.typeName === LogChunkSchema.typeName;

/** The contract's Problem, with the `type` of RFC 9457 and the codes of the catalogue. */
function problemSchema(): JsonObject {
  const { Problem } = schemasOf([ProblemSchema]);
  const properties = { ...((Problem?.properties ?? {}) as JsonObject) };
  return {
    Problem: {
      ...Problem,
      properties: { type: { type: "string" }, ...properties, code: { type: "string", enum: Object.keys(ERRORS) } },
    },
  };
}
