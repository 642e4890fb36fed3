// Joins a shepherd's socket to the server's stream, both ways. Either may be lost: the stream is opened
// again when the link is back, and the shepherd then repeats what was not taken. A server that does
// not know the launch any more, because another leads, ends it. Nothing gathers here: a
// shepherd stops by itself when too much is unconfirmed.

import type { Socket } from "node:net";
import type { Client, ClientDuplexStream } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import type { pb } from "@lattice/wire";
import { runTasksCall } from "../link/service.ts";
import type { FenceMember } from "./fence/peers.ts";
import { decodeReport, encodeOrder, frameReader, type ShepherdOrder } from "./frames.ts";
import type { Entry } from "./name-types.ts";
import { helloMessage, reportMessage, shepherdOrder } from "./reports.ts";

export interface BridgeOptions {
  readonly launchId: string;
  readonly nodeId: string;
  readonly socket: Socket;
  /** Of an earlier life of the agent: what it has said so far is to be said again. */
  readonly found: boolean;
  /** Takes part in exchanges that do not go through the server; null: all of them do. */
  readonly fence: ((done: FenceDone) => FenceMember) | null;
  /** The shepherd is gone and its launch with it. `told`: it said so before. */
  readonly over: (told: boolean) => void;
}

export interface Bridge {
  /** Opens the stream to the server, unless it is open. */
  open(client: Client): void;
  say(order: ShepherdOrder): void;
  /** Lets go of both ends; the ranks go on. */
  close(): void;
}

type FenceDone = (number: number, entries: readonly Entry[]) => void;

const OPEN_AGAIN_AFTER_MS = 500;

type Stream = ClientDuplexStream<pb.TasksReport, pb.TasksOrder>;

export function bridge({ launchId, nodeId, socket, found, fence, over }: BridgeOptions): Bridge {
  let stream: Stream | null = null;
  let client: Client | null = null;
  let done = false;
  let closed = false;
  const say = (order: ShepherdOrder): void => void socket.write(encodeOrder(order));

  const member = fence?.((number, entries) => say({ kind: "fence_done", number, entries })) ?? null;

  const read = frameReader((frame) => {
    const numbered = decodeReport(frame);
    if (numbered.report.kind === "fence" && member !== null) {
      member.bring(numbered.report.number, numbered.report.entries);
      return;
    }
    done ||= numbered.report.kind === "done";
    stream?.write(reportMessage(numbered, nodeId));
  });
  socket.on("data", read);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (closed) return;
    if (!done) stream?.write(helloMessage(launchId, nodeId, "the tasks were ended together with the allocation"));
    stream?.end();
    closed = true;
    member?.leave();
    over(done);
  });

  function open(to: Client): void {
    if (stream !== null || closed) return;
    client = to;
    const { path, serialize, deserialize } = runTasksCall;
    const call: Stream = to.makeBidiStreamRequest(path, serialize, deserialize);
    stream = call;
    call.write(helloMessage(launchId, nodeId, ""));
    call.on("data", (order: pb.TasksOrder) => {
      const known = shepherdOrder(order);
      if (known !== null) say(known);
    });
    call.on("error", (error: { code?: number }) => {
      if (stream === call) stream = null;
      // The server answers, and has no such launch: whoever asked for it is gone.
      if (error.code === status.NOT_FOUND)
        say({ kind: "kill", reason: "the launch is not known to the server any more" });
      else openLater();
    });
    call.on("end", () => {
      if (stream === call) stream = null;
    });
  }

  /** The stream was lost, the link perhaps not. */
  function openLater(): void {
    setTimeout(() => {
      if (client !== null) reopen(client);
    }, OPEN_AGAIN_AFTER_MS).unref();
  }

  function reopen(to: Client): void {
    if (stream !== null || closed) return;
    open(to);
    say({ kind: "again" });
  }

  return {
    open: (to) => (client === null && !found ? open(to) : reopen(to)),
    say,
    close() {
      closed = true;
      member?.leave();
      stream?.cancel();
      socket.destroy();
    },
  };
}
