// Terminals in allocations. The leader sends a request over the agent's Connect stream; the agent answers by opening
// ServeTerminal, and input and output then pass through here unread. The number of terminals of one user is limited
// here, because every terminal passes through the leader.

import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { type AllocationId, type Attempt, duration, type NodeId, type UserName } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import { createSeats } from "../../base/seats.ts";
import type { AgentHub } from "../agents/hub.ts";

/** How long an agent may take to open the requested stream. */
const OPEN_DEADLINE = duration(10_000);

export type ServeTerminalCall = grpc.ServerDuplexStream<pb.ServeTerminalRequest, pb.ServeTerminalResponse>;

export interface TerminalQuery {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly node: NodeId;
  readonly user: UserName;
  /** "" for the user's shell. */
  readonly command: string;
  readonly size: { readonly rows: number; readonly cols: number };
  readonly term: string;
}

export interface TerminalRelay {
  /** Ends with the command, the input or the signal; throws the problem that prevents opening. */
  open(
    query: TerminalQuery,
    input: AsyncIterable<pb.AttachRequest>,
    signal: AbortSignal,
  ): AsyncIterable<pb.AttachResponse>;
  /** The ServeTerminal handler. `refusal(node)` returns why the stream may not act for the node, or null. */
  receive(call: ServeTerminalCall, refusal: (node: string) => string | null): void;
  /** Terminals open now. */
  readonly count: number;
}

interface TerminalLimits {
  readonly perUser: number;
  readonly idleWarningSeconds: number;
}

/** The stream that an agent opened for a terminal. */
interface TerminalStream {
  readonly call: ServeTerminalCall;
  readonly first: pb.ServeTerminalRequest;
  readonly rest: AsyncIterator<pb.ServeTerminalRequest>;
}

interface Expected {
  /** The only node that may open this stream. */
  readonly node: NodeId;
  readonly accept: (stream: TerminalStream) => void;
}

export function createTerminalRelay(hub: AgentHub, clock: Clock, limits: () => TerminalLimits): TerminalRelay {
  const expected = new Map<string, Expected>();
  const seats = createSeats();
  return {
    async *open(query, input, signal) {
      const { perUser, idleWarningSeconds } = limits();
      if (seats.of(query.user) >= perUser) throw tooMany(seats.of(query.user), perUser);
      const leave = seats.take(query.user);
      try {
        const stream = await requestStream({ hub, clock, expected, idleWarningSeconds }, query, signal);
        void feed(stream.call, input);
        try {
          yield* shown(stream, query, signal);
        } finally {
          // The agent hangs up the terminal when its stream ends.
          stream.call.end();
        }
      } finally {
        leave();
      }
    },
    receive: (call, refusal) => acceptStream(expected, call, refusal),
    get count() {
      return seats.count;
    },
  };
}

interface RequestParts {
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly expected: Map<string, Expected>;
  readonly idleWarningSeconds: number;
}

function requestStream(parts: RequestParts, query: TerminalQuery, signal: AbortSignal): Promise<TerminalStream> {
  const { hub, clock, expected, idleWarningSeconds } = parts;
  // Unguessable: the node that names it receives what a person types.
  const streamId = `terminal-${randomBytes(16).toString("hex")}`;
  return new Promise((resolve, reject) => {
    const settle = () => {
      expected.delete(streamId);
      cancel();
      signal.removeEventListener("abort", onAbort);
    };
    const refuse = (reason: unknown) => {
      settle();
      reject(reason);
    };
    const onAbort = () => refuse(signal.reason);
    const cancel = clock.after(OPEN_DEADLINE, () => refuse(unreachable(query)));
    signal.addEventListener("abort", onAbort, { once: true });
    const accept = (stream: TerminalStream) => {
      settle();
      resolve(stream);
    };
    const { allocation: allocationId, attempt, node, command, size, term } = query;
    expected.set(streamId, { node, accept });
    const order = { streamId, allocationId, attempt, command, size, term, idleWarningSeconds };
    if (!hub.send(node, { case: "openTerminal", value: create(pb.OpenTerminalSchema, order) }))
      refuse(unreachable(query));
  });
}

function acceptStream(
  expected: ReadonlyMap<string, Expected>,
  call: ServeTerminalCall,
  refusal: (node: string) => string | null,
): void {
  call.on("error", () => undefined);
  const rest = call[Symbol.asyncIterator]() as AsyncIterator<pb.ServeTerminalRequest>;
  rest.next().then(
    (first) => {
      const waiting = first.done ? undefined : expected.get(first.value.streamId);
      // The caller has left: the end of the stream makes the agent hang up.
      if (first.done || waiting === undefined) {
        call.end();
        return;
      }
      const why = refusal(waiting.node);
      if (why === null) waiting.accept({ call, first: first.value, rest });
      else call.emit("error", { code: grpc.status.PERMISSION_DENIED, details: why });
    },
    () => call.end(),
  );
}

async function* shown(
  { first, rest }: TerminalStream,
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

/** The end of the input ends the terminal. A slow node exerts backpressure on the caller. */
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
    // The input broke off or was malformed; both end the terminal.
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

const tooMany = (open: number, limit: number): ProblemError =>
  new ProblemError("too_many_terminals", {
    detail: `maximum concurrent sessions reached (${open}/${limit}). Close an existing session to open a new one.`,
  });

const unreachable = ({ node }: TerminalQuery): ProblemError =>
  new ProblemError("node_unreachable", {
    detail: `The agent of node ${node} is not connected, so no terminal can be opened there now.`,
    hint: "Try again when the node is back (lattice nodes shows its state).",
  });
