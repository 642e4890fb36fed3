// Terminals in allocations, brought by their agents. The server asks over the Connect stream, the agent
// answers by opening ServeTerminal, and from then on what is typed and what is shown pass through
// here unread. The number of terminals that one user has open is bounded here, on the leader, because
// every terminal passes it whatever server a person has found.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { duration, type NodeId } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { AgentHub } from "../agents/hub.ts";
import type { TerminalQuery } from "../api/control-plane.ts";
import type { Clock } from "../clock.ts";

/** How long an agent may take to open the stream it was asked for. */
const OPEN_DEADLINE = duration(10_000);

export type ServeTerminalCall = grpc.ServerDuplexStream<pb.ServeTerminalRequest, pb.ServeTerminalResponse>;

export interface TerminalRelay {
  /** Ends with the command, the input's end, or the signal; throws what keeps it from opening. */
  open(
    query: TerminalQuery,
    input: AsyncIterable<pb.AttachRequest>,
    signal: AbortSignal,
  ): AsyncIterable<pb.AttachResponse>;
  /** The ServeTerminal handler. `stranger`: why this stream may not speak for a node, or null. */
  receive(call: ServeTerminalCall, stranger: (node: string) => string | null): void;
  /** Open now. */
  readonly count: number;
}

export interface TerminalLimits {
  readonly perUser: number;
  readonly idleWarningSeconds: number;
}

interface Arrival {
  readonly call: ServeTerminalCall;
  readonly first: pb.ServeTerminalRequest;
  readonly rest: AsyncIterator<pb.ServeTerminalRequest>;
}

interface Waiter {
  /** The node that was asked: nobody else may answer. */
  readonly node: NodeId;
  readonly take: (arrival: Arrival) => void;
}

export function createTerminalRelay(hub: AgentHub, clock: Clock, limits: TerminalLimits): TerminalRelay {
  const expected = new Map<string, Waiter>();
  const byUser = new Map<string, number>();
  let counter = 0;
  let count = 0;

  return {
    open,
    receive,
    get count() {
      return count;
    },
  };

  async function* open(
    query: TerminalQuery,
    input: AsyncIterable<pb.AttachRequest>,
    signal: AbortSignal,
  ): AsyncGenerator<pb.AttachResponse> {
    const leave = take(query.user);
    try {
      const arrival = await ask(query, signal);
      void feed(arrival.call, input);
      try {
        yield* shown(arrival, query, signal);
      } finally {
        // The agent hangs the terminal up when its stream ends.
        arrival.call.end();
      }
    } finally {
      leave();
    }
  }

  /** Throws when the user has as many as may be; answers how to give the place back. */
  function take(user: string): () => void {
    const open = byUser.get(user) ?? 0;
    if (open >= limits.perUser) throw tooMany(open, limits.perUser);
    byUser.set(user, open + 1);
    count += 1;
    return () => {
      count -= 1;
      const left = (byUser.get(user) ?? 1) - 1;
      if (left > 0) byUser.set(user, left);
      else byUser.delete(user);
    };
  }

  function ask(query: TerminalQuery, signal: AbortSignal): Promise<Arrival> {
    counter += 1;
    // Not to be guessed: whoever names it gets what a person types.
    const streamId = `terminal-${counter}-${randomBytes(16).toString("hex")}`;
    return new Promise((resolve, reject) => {
      const settle = () => {
        expected.delete(streamId);
        cancel();
        signal.removeEventListener("abort", give);
      };
      const refuse = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const give = () => refuse(signal.reason);
      const cancel = clock.after(OPEN_DEADLINE, () => refuse(unreachable(query)));
      signal.addEventListener("abort", give, { once: true });
      const take = (arrival: Arrival) => {
        settle();
        resolve(arrival);
      };
      const { allocation, attempt, node, command, size, term } = query;
      expected.set(streamId, { node, take });
      const order = create(pb.OpenTerminalSchema, {
        streamId,
        allocationId: allocation,
        attempt,
        command,
        size,
        term,
        idleWarningSeconds: limits.idleWarningSeconds,
      });
      if (!hub.send(node, { case: "openTerminal", value: order })) refuse(unreachable(query));
    });
  }

  function receive(call: ServeTerminalCall, stranger: (node: string) => string | null): void {
    call.on("error", () => undefined);
    const rest = call[Symbol.asyncIterator]() as AsyncIterator<pb.ServeTerminalRequest>;
    rest.next().then(
      (first) => {
        const waiter = first.done ? undefined : expected.get(first.value.streamId);
        // Nobody waits for it any more: the end of the stream makes the agent hang it up.
        if (first.done || waiter === undefined) {
          call.end();
          return;
        }
        const why = stranger(waiter.node);
        if (why === null) waiter.take({ call, first: first.value, rest });
        else call.emit("error", { code: grpc.status.PERMISSION_DENIED, details: why });
      },
      () => call.end(),
    );
  }
}

async function* shown(
  { first, rest }: Arrival,
  query: TerminalQuery,
  signal: AbortSignal,
): AsyncGenerator<pb.AttachResponse> {
  let next: IteratorResult<pb.ServeTerminalRequest> = { done: false, value: first };
  while (!next.done && !signal.aborted) {
    const { error, output } = next.value;
    if (error !== "") throw new ProblemError("terminal_unavailable", { detail: `${query.node}: ${error}.` });
    if (output !== undefined) yield output;
    if (output?.message.case === "exit") return;
    next = await untilAborted(rest.next(), signal);
  }
  if (signal.aborted) return;
  throw new ProblemError("node_unreachable", {
    detail: `The connection to node ${query.node} was lost; the terminal has ended.`,
    hint: `Open another with \`lattice attach ${query.allocation}\` when the node is back.`,
  });
}

/** The end of what is typed is the end of the terminal; a slow node slows the typist down. */
async function feed(call: ServeTerminalCall, input: AsyncIterable<pb.AttachRequest>): Promise<void> {
  try {
    for await (const message of input) {
      if (call.destroyed) return;
      if (call.write(create(pb.ServeTerminalResponseSchema, { input: message }))) continue;
      await new Promise<void>((resolve) => {
        call.once("drain", resolve);
        call.once("close", resolve);
      });
    }
  } catch {
    // Whoever types has gone without a word, or said nonsense; both end the terminal.
  }
  call.end();
}

function untilAborted<T>(promise: Promise<IteratorResult<T>>, signal: AbortSignal): Promise<IteratorResult<T>> {
  const stopped: IteratorResult<T> = { done: true, value: undefined };
  if (signal.aborted) return Promise.resolve(stopped);
  return new Promise((resolve) => {
    const stop = () => resolve(stopped);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, () => resolve(stopped)).finally(() => signal.removeEventListener("abort", stop));
  });
}

const tooMany = (open: number, most: number): ProblemError =>
  new ProblemError("too_many_terminals", {
    detail: `maximum concurrent sessions reached (${open}/${most}). Close an existing session to open a new one.`,
  });

const unreachable = ({ node }: TerminalQuery): ProblemError =>
  new ProblemError("node_unreachable", {
    detail: `The agent of node ${node} is not connected, so no terminal can be opened there now.`,
    hint: "Try again when the node is back (lattice nodes shows its state).",
  });
