// Commits the command of a request. The origin makes the request repeatable; a rejection is thrown as a problem.

import { createHash } from "node:crypto";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Command, type LogIndex, MAX_REQUEST_ID_LENGTH, type Origin, type Refusal } from "@lattice/core";
import { nearest, ProblemError, problemFromRefusal, toJson } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";
import type { Call } from "../call/call.ts";

interface CommitResult {
  /** The id of the record that the command created or changed. */
  readonly id: string | null;
  readonly index: LogIndex;
}

export async function commit(call: Call, command: Command): Promise<CommitResult> {
  const { outcome, index } = await call.plane.propose(command);
  if (outcome.kind === "rejected") throw ProblemError.of(problemFromRefusal(withNearestTenant(call, outcome.refusal)));
  return { id: outcome.id, index };
}

/** A tenant that does not exist is most often a mistyped one. */
function withNearestTenant(call: Call, refusal: Refusal): Refusal {
  const named = refusal.code === "unknown_tenant" ? QUOTED.exec(refusal.detail)?.[1] : undefined;
  if (named === undefined) return refusal;
  const close = nearest(
    named,
    Array.from(call.plane.view().tenants(), ({ id }) => id),
  );
  return close === null ? refusal : { ...refusal, detail: `${refusal.detail}; did you mean "${close}"?` };
}

const QUOTED = /"([^"]+)"/;

/** The hash covers the whole request except its id, and is computed only when there is an id. */
export function originOf<D extends DescMessage>(call: Call, schema: D, request: MessageShape<D>): Origin {
  const requestId = "requestId" in request && typeof request.requestId === "string" ? request.requestId : "";
  if (requestId === "") return { user: call.principal.user, requestId: null, bodyHash: "" };
  if (requestId.length > MAX_REQUEST_ID_LENGTH || !/^[\x21-\x7e]+$/.test(requestId))
    throw invalid("request_id", `must be 1 to ${MAX_REQUEST_ID_LENGTH} printable characters`, "For example, a UUID.");
  const body = toJson(schema, { ...request, requestId: "" });
  const bodyHash = createHash("sha256").update(schema.typeName).update(canonical(body)).digest("hex");
  return { user: call.principal.user, requestId, bodyHash };
}

/** JSON with sorted keys: two maps that differ in order only are the same request. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
