// Normalises a DAG document: a list of members, each in any form of a submission, plain or wrapped in `dag`. `id` is a
// synonym of a member's `name`.

import { type SubmitDagRequest, SubmitDagRequestSchema } from "../../gen/lattice/v1/dags_pb.ts";
import { FieldList, fieldError } from "../errors/field-list.ts";
import { ProblemError } from "../errors/problem.ts";
import { fromJson, refuseUnknown } from "../json/from-json.ts";
import { isObject, type Json, type JsonObject, kindOf } from "../json/value.ts";
import { normaliseSubmission } from "./submission.ts";

const KNOWN: readonly string[] = ["name", "allocations", "request_id", "dag", "tenant", "vcluster"];

interface NormalisedDag {
  /** The JSON form of SubmitDagRequest. */
  readonly request: JsonObject;
  readonly warnings: string[];
}

export function normaliseDag(input: unknown): NormalisedDag {
  if (!isObject(input)) throw fieldError([{ field: "body", detail: `must be an object, not ${kindOf(input)}` }]);
  const problems = new FieldList();
  for (const name of Object.keys(input)) {
    if (!KNOWN.includes(name)) refuseUnknown(problems, { path: name, name, known: KNOWN });
  }
  problems.throwIfAny();
  const { dag, ...outer } = input;
  const body: JsonObject = isObject(dag) ? { ...outer, ...dag } : outer;
  const { allocations, name, request_id: requestId, tenant, vcluster } = body;
  if (!Array.isArray(allocations)) {
    throw fieldError([{ field: "allocations", detail: "must be a list of allocations" }]);
  }
  const shared = { ...given("tenant", tenant), ...given("vcluster", vcluster) };
  const warnings: string[] = [];
  const members = (allocations as readonly Json[]).map((member, n) => {
    const { request, warnings: memberWarnings } = memberOf(member, `allocations[${n}]`, shared);
    warnings.push(...memberWarnings);
    return request;
  });
  const request = { ...given("name", name), ...given("request_id", requestId), allocations: members };
  return { request, warnings };
}

/** Normalises and parses; problems name the fields as the user wrote them. */
export function dagFromJson(input: unknown): { request: SubmitDagRequest; warnings: string[] } {
  const { request, warnings } = normaliseDag(input);
  return { request: fromJson(SubmitDagRequestSchema, request), warnings };
}

const given = (name: string, value: Json | undefined): JsonObject =>
  value === undefined || value === null ? {} : { [name]: value };

function memberOf(member: Json, place: string, shared: JsonObject): { request: Json; warnings: readonly string[] } {
  if (!isObject(member)) throw fieldError([{ field: place, detail: `must be an object, not ${kindOf(member)}` }]);
  const { id, ...rest } = member;
  if (id !== undefined && rest.name !== undefined) {
    throw fieldError([
      { field: `${place}.id`, detail: "has the same meaning as name", hint: "Keep one of id and name." },
    ]);
  }
  const named: JsonObject = { ...shared, ...rest, ...(id === undefined ? {} : { name: id }) };
  try {
    const { hold, ...submission } = named;
    if (hold !== undefined && hold !== null) {
      throw fieldError([{ field: "hold", detail: "is not for members of a DAG", hint: "Hold them one by one." }]);
    }
    const { request, warnings } = normaliseSubmission(submission);
    return { request: request.allocation as Json, warnings };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const fields = error.problem.fields.map((field) => ({ ...field, field: `${place}.${field.field}` }));
    throw fieldError(fields, { code: error.problem.code });
  }
}
