// Connects a shepherd's socket to the server's stream. Either may be lost: the stream is reopened when the link is
// back, and the shepherd repeats what was not confirmed. A new leader learns the launch from its ticket; a leader that
// still does not know it ends it. Nothing is buffered here: a shepherd stops reading when too much is unconfirmed.

import type { Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import type { Client, ClientDuplexStream } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import { runTasksCall } from "../link/service.ts";
import { MAX_REPORT_BYTES } from "./base/exchange-limits.ts";
import type { PmiEntry } from "./base/name-types.ts";
import type { FenceMember } from "./fence/peers.ts";
import { decodeReport, encodeOrder, frameReader, type NumberedReport, type ShepherdOrder } from "./frames.ts";
import { helloMessage, reportMessage, shepherdOrders } from "./reports.ts";

interface BridgeOptions {
  readonly launchId: string;
  readonly nodeId: string;
  readonly socket: Socket;
  /** Started by an earlier agent: its reports are repeated. */
  readonly found: boolean;
  /** `null` when the launch ends with the leader that started it. */
  readonly ticket: pb.LaunchTicket | null;
  /** Takes part in fences among agents; `null` when all fences go through the server. */
  readonly fence: ((done: FenceDone, tooMuch: () => void) => FenceMember) | null;
  /** The shepherd and its launch are gone. `hasReportedEnd`: it had reported its end. */
  readonly over: (hasReportedEnd: boolean) => void;
}

export interface Bridge {
  /** Opens the stream to the server, unless it is open. */
  open(client: Client): void;
  say(order: ShepherdOrder): void;
  /** Closes both ends; the ranks continue. */
  close(): void;
}

type FenceDone = (number: number, entries: readonly PmiEntry[]) => void;

const OPEN_AGAIN_AFTER_MS = 500;
const UNKNOWN = "the launch is not known to the server any more";
const FAILED = 1;
const TOO_MUCH = "its ranks exchange more at once than a message between servers and nodes may carry";
/** The shepherd ends its ranks within this time, or is cut off. */
const ABANDON_AFTER_MS = 10_000;

type Stream = ClientDuplexStream<pb.TasksReport, pb.TasksOrder>;

export function bridge({ launchId, nodeId, socket, found, ticket, fence, over }: BridgeOptions): Bridge {
  let stream: Stream | null = null;
  let client: Client | null = null;
  let done = false;
  let closed = false;
  /** Why the launch cannot continue on this node; "" while it can. */
  let failure = "";
  const say = (order: ShepherdOrder): void => void socket.write(encodeOrder(order));

  /** Ends the launch, and nothing else on this node. */
  function giveUp(reason: string): void {
    if (failure !== "" || closed) return;
    failure = reason;
    stream?.write(helloMessage(launchId, nodeId, failure));
    say({ kind: "kill", reason: failure, code: FAILED });
    say({ kind: "forgotten" });
    setTimeout(() => socket.destroy(), ABANDON_AFTER_MS).unref();
  }

  const member =
    fence?.(
      (number, entries) => say({ kind: "fence_done", number, entries }),
      () => giveUp(TOO_MUCH),
    ) ?? null;

  function take(numbered: NumberedReport): void {
    if (numbered.report.kind === "fence" && member !== null) {
      member.bring(numbered.report.number, numbered.report.entries);
      // Its number is sent anyway: the server detects gaps by the numbers.
      stream?.write(create(pb.TasksReportSchema, { number: numbered.number }));
      return;
    }
    done ||= numbered.report.kind === "done";
    stream?.write(reportMessage(numbered, nodeId));
  }

  const read = frameReader({
    maxBytes: MAX_REPORT_BYTES,
    decode: decodeReport,
    take,
    broken: (reason) => giveUp(`its tasks cannot be followed: ${reason}`),
  });
  socket.on("data", read);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (closed) return;
    if (!done && failure === "")
      stream?.write(helloMessage(launchId, nodeId, "the tasks were ended together with the allocation"));
    stream?.end();
    closed = true;
    member?.leave();
    over(done);
  });

  function open(to: Client, known: pb.LaunchTicket | null): void {
    if (stream !== null || closed) return;
    const { path, serialize, deserialize } = runTasksCall;
    const call: Stream = to.makeBidiStreamRequest(path, serialize, deserialize);
    stream = call;
    call.write(helloMessage(launchId, nodeId, failure, known));
    call.on("data", (order: pb.TasksOrder) => {
      for (const known of shepherdOrders(order)) say(known);
    });
    call.on("error", (error: { code?: number; details?: string }) => {
      if (stream !== call) return;
      stream = null;
      // Repeating the same messages would break every further stream.
      if (isTooLarge(error)) giveUp(TOO_MUCH);
      // The server does not know the launch: its client is gone.
      if (error.code !== status.NOT_FOUND) return openLater();
      say({ kind: "kill", reason: UNKNOWN, code: FAILED });
      say({ kind: "forgotten" });
    });
    call.on("end", () => {
      if (stream !== call) return;
      stream = null;
      // A server that lost leadership closes the stream silently.
      openLater();
    });
  }

  /** The stream was lost, perhaps without the link. */
  function openLater(): void {
    setTimeout(() => {
      if (client !== null) reopen(client);
    }, OPEN_AGAIN_AFTER_MS).unref();
  }

  function reopen(to: Client): void {
    if (stream !== null || closed) return;
    open(to, ticket);
    say({ kind: "again" });
  }

  /** A new connection: the remains of the old one are invalid. */
  function moveTo(to: Client): void {
    const first = client === null && !found;
    if (client !== to) {
      const old = stream;
      stream = null;
      old?.cancel();
    }
    client = to;
    if (first) open(to, null);
    else reopen(to);
  }

  return {
    open: moveTo,
    say,
    close() {
      closed = true;
      member?.leave();
      stream?.cancel();
      socket.destroy();
    },
  };
}

const isTooLarge = ({ code, details }: { code?: number; details?: string }): boolean =>
  code === status.RESOURCE_EXHAUSTED && /larger than/.test(details ?? "");
