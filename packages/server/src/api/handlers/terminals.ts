// A terminal in a running allocation. Every check comes before the terminal is opened: the allocation must run, the node
// must belong to it, and the caller must be its owner.

import { type Allocation, attemptOn, isActive, type NodeId } from "@lattice/core";
import { ProblemError, type pb } from "@lattice/wire";
import { checkText, invalid } from "../../base/problems.ts";
import type { TerminalQuery } from "../../nodes/terminals/relay.ts";
import type { Call } from "../call/call.ts";
import { MAX_COMMAND_LENGTH, MAX_TERM_LENGTH, MAX_TERMINAL_SIDE } from "../limits/limits.ts";
import { recordAudit } from "./audit.ts";
import { isSensitiveWork } from "./content.ts";
import { ownerOnly } from "./owner-only.ts";
import { find } from "./work.ts";

export async function* attach(
  call: Call,
  requests: AsyncIterable<pb.AttachRequest>,
): AsyncGenerator<pb.AttachResponse> {
  const inputs = requests[Symbol.asyncIterator]();
  const first = await inputs.next();
  const start = first.done === true ? undefined : first.value.message;
  if (start?.case !== "start") throw invalid("start", "must be the first message of a terminal");
  const query = await queryOf(call, start.value);
  const { allocation, node } = query;
  const view = call.plane.view();
  const record = view.allocation(allocation);
  await recordAudit(call, "terminal.open", {
    scope: record !== undefined && isSensitiveWork(view, record) ? "sensitive" : "work",
    allocation,
    node,
    ...(record === undefined ? {} : { tenant: record.spec.tenant }),
    detail: "",
  });
  yield* call.plane.terminal(query, rest(inputs), call.signal);
}

async function queryOf(call: Call, start: pb.AttachStart): Promise<TerminalQuery> {
  const record = await find(call, start.id);
  ownerOnly(call, "SessionService.Attach", record);
  if (start.command.length > MAX_COMMAND_LENGTH)
    throw invalid("command", `is ${start.command.length} characters long; at most ${MAX_COMMAND_LENGTH}`);
  if (start.command.includes("\0")) throw invalid("command", "contains a NUL character");
  checkText("term", start.term, MAX_TERM_LENGTH);
  const size = start.size ?? { rows: 0, cols: 0 };
  checkSize(size);
  const node = nodeOf(record, start.node);
  return {
    allocation: record.id,
    attempt: attemptOn(record, node),
    node,
    user: call.principal.user,
    command: start.command,
    size: { rows: size.rows, cols: size.cols },
    term: start.term,
  };
}

function checkSize({ rows, cols }: { readonly rows: number; readonly cols: number }): void {
  if (rows > MAX_TERMINAL_SIDE) throw invalid("size.rows", `is ${rows}; at most ${MAX_TERMINAL_SIDE}`);
  if (cols > MAX_TERMINAL_SIDE) throw invalid("size.cols", `is ${cols}; at most ${MAX_TERMINAL_SIDE}`);
}

function nodeOf(record: Allocation, named: string): NodeId {
  const { id, phase } = record;
  if (phase.kind === "checkpointing" && !isActive(phase)) {
    const detail = `Allocation ${id} is being checkpointed; attach is unavailable until it is rescheduled.`;
    throw new ProblemError("not_running", { detail });
  }
  if (!isActive(phase)) {
    throw new ProblemError("not_running", {
      detail: `Allocation ${id} is ${phase.kind}, so there is nothing to attach to.`,
    });
  }
  const [first] = phase.nodes;
  const node = named === "" ? first : phase.nodes.find((candidate) => candidate === named);
  if (node !== undefined) return node;
  throw invalid("node", `is not a node of allocation ${id}`, `Its nodes are ${phase.nodes.slice(0, 10).join(", ")}.`);
}

/** Passes input and valid sizes on; ignores other messages. */
async function* rest(inputs: AsyncIterator<pb.AttachRequest>): AsyncGenerator<pb.AttachRequest> {
  for (let next = await inputs.next(); next.done !== true; next = await inputs.next()) {
    const { message } = next.value;
    if (message.case === undefined || message.case === "start" || message.case === "keepalive") continue;
    if (message.case === "resize" && !isSize(message.value)) continue;
    yield next.value;
  }
}

const isSize = ({ rows, cols }: pb.TerminalSize): boolean =>
  rows > 0 && cols > 0 && rows <= MAX_TERMINAL_SIDE && cols <= MAX_TERMINAL_SIDE;
