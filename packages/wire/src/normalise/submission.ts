// Normalises every form of a submission to the full form of the contract: wrapped in `allocation` or flat, nested or
// short, with `72h`, `{min, max}` and constraint text. The CLI, the SDKs and REST all use it, so that they cannot
// differ. Normalising a full form changes nothing.

import type { FieldProblem } from "@lattice/core";
import type { SubmitRequest } from "../../gen/lattice/v1/allocations_pb.ts";
import { SubmitRequestSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { fieldError } from "../errors/field-list.ts";
import { ProblemError } from "../errors/problem.ts";
import { fromJson, refuseUnknown } from "../json/from-json.ts";
import { isObject, type JsonObject, kindOf } from "../json/value.ts";
import { Draft } from "./draft.ts";
import { FIELDS, UNOFFERED_FIELDS } from "./fields.ts";
import { unfoldTemplate } from "./task-group.ts";

interface Normalised {
  /** The JSON form of SubmitRequest. */
  readonly request: JsonObject;
  readonly warnings: string[];
}

export function normaliseSubmission(input: unknown): Normalised {
  const { draft, beside } = read(input);
  return { request: requestOf(draft, beside), warnings: draft.warnings };
}

/** Normalises and parses; problems name the fields as the user wrote them. */
export function submissionFromJson(input: unknown): { request: SubmitRequest; warnings: string[] } {
  const { draft, beside, prefix } = read(input);
  try {
    return { request: fromJson(SubmitRequestSchema, requestOf(draft, beside)), warnings: draft.warnings };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    throw fieldError(error.problem.fields.map((field) => renamed(field, draft, prefix)));
  }
}

interface ReadSubmission {
  readonly draft: Draft;
  /** Fields of the request that do not describe the work. */
  readonly beside: Readonly<Record<string, unknown>>;
  /** The prefix that the user wrote: "allocation." or nothing. */
  readonly prefix: string;
}

function read(input: unknown): ReadSubmission {
  if (!isObject(input)) throw fieldError([{ field: "body", detail: `must be an object, not ${kindOf(input)}` }]);
  const wrapped = input.allocation !== undefined && input.allocation !== null;
  const prefix = wrapped ? "allocation." : "";
  const { request_id: requestId, hold, allocation, ...rest } = input;
  const draft = new Draft();
  if (wrapped) refuseBeside(draft, rest);
  const spec = wrapped ? allocation : rest;
  if (isObject(spec)) readSpec(draft, spec, prefix);
  else draft.problems.add("allocation", `must be an object, not ${kindOf(spec)}`);
  draft.problems.throwIfAny();
  return { draft, beside: { request_id: requestId, hold }, prefix };
}

function refuseBeside(draft: Draft, rest: JsonObject): void {
  refuseUnoffered(rest, "");
  for (const name of Object.keys(rest)) {
    if (FIELDS.has(name)) draft.problems.add(name, "is outside allocation", "Put it inside allocation.");
    else refuseUnknown(draft.problems, { path: name, name, known: ["allocation", "request_id", "hold"] });
  }
}

function readSpec(draft: Draft, given: JsonObject, prefix: string): void {
  refuseUnoffered(given, prefix);
  const spec = draft.attempt(() => unfoldTemplate(given, prefix)) ?? {};
  for (const [name, value] of Object.entries(spec)) {
    const put = FIELDS.get(name);
    if (put === undefined)
      refuseUnknown(draft.problems, { path: prefix + name, name, known: [...FIELDS.keys(), "hold"] });
    else if (value !== null) put(draft, value, prefix + name);
  }
}

/** Reported alone: the other fields of such a submission have another meaning. */
function refuseUnoffered(spec: JsonObject, prefix: string): void {
  const asked = UNOFFERED_FIELDS.filter((name) => spec[name] !== undefined && spec[name] !== null);
  if (asked.length === 0) return;
  const fields = asked.map((name) => ({ field: prefix + name, ...unofferedText(name) }));
  throw fieldError(fields, { code: "unsupported_feature" });
}

const unofferedText = (name: string): Pick<FieldProblem, "detail" | "hint"> =>
  name === "dag" || name === "allocations"
    ? { detail: "makes this a DAG", hint: "Submit it to /api/v1/dags, or with: lattice dag submit FILE" }
    : { detail: "is not supported by this version" };

function requestOf(draft: Draft, beside: ReadSubmission["beside"]): JsonObject {
  const given = Object.entries(beside).filter(([, value]) => value !== undefined && value !== null);
  return { allocation: draft.build(), ...(Object.fromEntries(given) as JsonObject) };
}

function renamed(problem: FieldProblem, draft: Draft, prefix: string): FieldProblem {
  const inner = problem.field.startsWith("allocation.") ? problem.field.slice("allocation.".length) : null;
  if (inner === null) return problem;
  const name = draft.origin(inner);
  return { ...problem, field: name === inner ? prefix + inner : name };
}
