// Actions outside the log, such as writing a backup, that a repeated request must not repeat. The audit record of the
// action carries the request id and the answer; a repeated request gets the same answer from any server. Concurrent
// requests to this server share one result. Failures are not stored, so a repeated request tries again.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { AuditAction, Origin } from "@lattice/core";
import { fromJson, type Json, ProblemError, toJson, withDeadline } from "@lattice/wire";
import type { Call } from "../call/call.ts";
import type { ControlPlane } from "../call/control-plane.ts";
import { recordAudit } from "./audit.ts";

interface RepeatableAction<D extends DescMessage> {
  /** The origin of the request, see `originOf`. */
  readonly origin: Origin;
  readonly schema: D;
  readonly act: (write: WriteRecord<D>) => Promise<MessageShape<D>>;
  /** The answer to a repeated request whose first answer was not stored. */
  readonly again?: () => Promise<MessageShape<D>>;
}

/** Writes to the audit log, with the answer if it is to be stored. */
type WriteRecord<D extends DescMessage> = (
  action: string,
  details: Omit<AuditAction, "action">,
  answer?: MessageShape<D>,
) => Promise<unknown>;

interface RunningAction {
  readonly bodyHash: string;
  readonly answer: Promise<unknown>;
}

/** Short, because members are also changed in a degraded cluster. */
const CATCH_UP_MS = 3_000;

const running = new WeakMap<ControlPlane, Map<string, RunningAction>>();

export async function once<D extends DescMessage>(call: Call, { origin, schema, act, again }: RepeatableAction<D>) {
  const write: WriteRecord<D> = (action, details, answer) =>
    recordAudit(
      call,
      action,
      details,
      origin,
      answer === undefined ? undefined : JSON.stringify(toJson(schema, answer)),
    );
  const { user, requestId, bodyHash } = origin;
  if (requestId === null) return act(write);
  // The answer of another server must be known here. If this server cannot catch up, it runs the action.
  await call.plane.waitForHead(withDeadline(call.signal, CATCH_UP_MS)).catch(() => undefined);
  const known = call.plane.view().request(user, requestId);
  if (known !== undefined) {
    if (known.bodyHash !== bodyHash || known.command !== "audit.record") throw conflict(requestId);
    const kept = known.outcome.kind === "accepted" ? known.outcome.id : null;
    if (kept !== null) return fromJson(schema, JSON.parse(kept) as Json);
    if (again !== undefined) return again();
  }
  return shared(call, origin, requestId, () => act(write));
}

async function shared<T>(call: Call, { user, bodyHash }: Origin, requestId: string, act: () => Promise<T>): Promise<T> {
  const all = running.get(call.plane) ?? new Map<string, RunningAction>();
  running.set(call.plane, all);
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
