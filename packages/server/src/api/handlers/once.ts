// Actions outside the log, such as writing a backup, that a repeated request must not repeat. The audit record of the
// action carries the request id and the answer; a repeated request gets the same answer from any server.
// Two that ask this server at the same time share what comes out. What has failed is not kept: asking again tries again.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { AuditAction, Origin } from "@lattice/core";
import { fromJson, type Json, ProblemError, toJson, withDeadline } from "@lattice/wire";
import type { Call } from "../call.ts";
import type { ControlPlane } from "../control-plane.ts";
import { writeDown } from "./audit.ts";

export interface Once<D extends DescMessage> {
  /** Of the request, see `originOf`. */
  readonly origin: Origin;
  readonly schema: D;
  readonly act: (write: Write<D>) => Promise<MessageShape<D>>;
  /** The answer to a repeated request whose first answer was not stored. */
  readonly again?: () => Promise<MessageShape<D>>;
}

/** Into the audit log, with the answer where it is kept. */
export type Write<D extends DescMessage> = (
  action: string,
  details: Omit<AuditAction, "action">,
  answer?: MessageShape<D>,
) => Promise<unknown>;

interface UnderWay {
  readonly bodyHash: string;
  readonly answer: Promise<unknown>;
}

/** Members are also changed in a cluster that is unwell. */
const CATCH_UP_MS = 3_000;

const underWay = new WeakMap<ControlPlane, Map<string, UnderWay>>();

export async function once<D extends DescMessage>(call: Call, { origin, schema, act, again }: Once<D>) {
  const write: Write<D> = (action, details, answer) =>
    writeDown(call, action, details, origin, answer === undefined ? undefined : JSON.stringify(toJson(schema, answer)));
  const { user, requestId, bodyHash } = origin;
  if (requestId === null) return act(write);
  // What another server has answered must be known here. One that cannot find out does what it is asked to.
  await call.plane.waitForHead(withDeadline(call.signal, CATCH_UP_MS)).catch(() => undefined);
  const known = call.plane.view().request(user, requestId);
  if (known !== undefined) {
    if (known.bodyHash !== bodyHash || known.command !== "audit.record") throw conflict(requestId);
    const kept = known.outcome.kind === "accepted" ? known.outcome.id : null;
    if (kept !== null) return fromJson(schema, JSON.parse(kept) as Json);
    if (again !== undefined) return again();
  }
  return inTurn(call, origin, requestId, () => act(write));
}

async function inTurn<T>(call: Call, { user, bodyHash }: Origin, requestId: string, act: () => Promise<T>): Promise<T> {
  const all = underWay.get(call.plane) ?? new Map<string, UnderWay>();
  underWay.set(call.plane, all);
  const key = `${user} ${requestId}`;
  const other = all.get(key);
  if (other !== undefined) {
    if (other.bodyHash !== bodyHash) throw conflict(requestId);
    return other.answer as Promise<T>;
  }
  const answer = act();
  all.set(key, { bodyHash, answer });
  try {
    return await answer;
  } finally {
    all.delete(key);
  }
}

const conflict = (requestId: string): ProblemError =>
  new ProblemError("request_conflict", {
    detail: `request id ${JSON.stringify(requestId)} was used before with another request`,
  });
