// Builds the message of an RPC from an HTTP request: path parameters, query and body. It uses `normalise`, so that all
// interfaces accept the same short forms.

import { create, type Message } from "@bufbuild/protobuf";
import { SubmitRequestSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { SubmitDagRequestSchema } from "../../gen/lattice/v1/dags_pb.ts";
import { CreateSessionRequestSchema } from "../../gen/lattice/v1/terminal_pb.ts";
import { fieldError } from "../errors/field-list.ts";
import { fromJson } from "../json/from-json.ts";
import { isObject, type Json, kindOf } from "../json/value.ts";
import { dagFromJson } from "../normalise/dag.ts";
import { requestFromJson } from "../normalise/short-request.ts";
import { submissionFromJson } from "../normalise/submission.ts";
import { type Query, queryToJson } from "./query.ts";
import type { Route } from "./routes.ts";

export interface HttpInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The parsed body; undefined or null without one. */
  readonly body: unknown;
}

/** `warnings` receives notes for the user about an acceptable request. */
export function requestFromHttp(route: Route, input: HttpInput, warnings: string[] = []): Message {
  const { input: schema } = route.rpc;
  if (schema.typeName === SubmitRequestSchema.typeName) {
    queryToJson([], input.query);
    const { request, warnings: found } = submissionFromJson(input.body ?? {});
    warnings.push(...found);
    return request;
  }
  if (schema.typeName === CreateSessionRequestSchema.typeName) return sessionRequest(input, warnings);
  if (schema.typeName === SubmitDagRequestSchema.typeName) {
    queryToJson([], input.query);
    const { request, warnings: found } = dagFromJson(input.body ?? {});
    warnings.push(...found);
    return request;
  }
  const fields: Record<string, Json> = route.body === "*" ? bodyOf(input) : queryOf(route, input);
  for (const name of route.params) {
    const value = input.params[name] ?? "";
    const inBody = fields[name];
    if (inBody !== undefined && inBody !== null && inBody !== value) {
      throw fieldError([{ field: name, detail: `differs from the "${value}" of the path` }]);
    }
    fields[name] = value;
  }
  return requestFromJson(schema, fields);
}

/** Accepts `{ allocation_id }`, or a submission in any form, optionally under `session`. */
function sessionRequest(input: HttpInput, warnings: string[]): Message {
  const { session, allocation_id: allocationId, ...rest } = bodyOf(input);
  if (allocationId !== undefined && allocationId !== null) {
    return fromJson(CreateSessionRequestSchema, { ...rest, allocation_id: allocationId });
  }
  const { request, warnings: found } = submissionFromJson(isObject(session) ? { ...rest, ...session } : rest);
  if (request.hold) throw fieldError([{ field: "hold", detail: "is not for sessions, which begin at once" }]);
  warnings.push(...found);
  return create(CreateSessionRequestSchema, {
    ...(request.allocation === undefined ? {} : { allocation: request.allocation }),
    requestId: request.requestId,
  });
}

/** With a body, query parameters are refused: each field has one place. */
function bodyOf({ body, query }: HttpInput): Record<string, Json> {
  queryToJson([], query);
  if (body === undefined || body === null) return {};
  if (!isObject(body)) throw fieldError([{ field: "body", detail: `must be an object, not ${kindOf(body)}` }]);
  return { ...body };
}

function queryOf(route: Route, { query, body }: HttpInput): Record<string, Json> {
  if (body !== undefined && body !== null && !(isObject(body) && Object.keys(body).length === 0)) {
    throw fieldError([{ field: "body", detail: "is not taken here", hint: "Give the fields as query parameters." }]);
  }
  return queryToJson(route.rpc.input.fields, query);
}
