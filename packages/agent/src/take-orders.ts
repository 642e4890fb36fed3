// What a server says to a node, each kind to the part of the node that is meant by it. Nothing is decided here.

import { create } from "@bufbuild/protobuf";
import type { Client } from "@grpc/grpc-js";
import { parseAllocationId } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { Saving } from "./checkpoint/node-parts.ts";
import { type Asked, answerAsked } from "./images/answer.ts";
import { attemptKey, type Event } from "./lifecycle/attempt.ts";
import type { Link } from "./link/link.ts";
import { orderOf } from "./link/messages.ts";
import type { ReportBuffer } from "./link/reports.ts";
import { type LogSources, openLogs } from "./logs/open-logs.ts";
import type { Tally } from "./metrics/tally.ts";
import type { NodeOptions } from "./node-options.ts";
import type { Probes } from "./probes/probes.ts";
import type { Launches } from "./tasks/launches.ts";
import type { AttemptFigures } from "./telemetry/measure-attempts.ts";
import { stopText } from "./terminal/stop-text.ts";
import type { Terminals } from "./terminal/terminals.ts";

export interface OrderedNode {
  readonly log: Logger;
  readonly reports: ReportBuffer;
  readonly saving: Saving;
  readonly screens: Terminals;
  readonly liveness: Probes;
  readonly figures: AttemptFigures;
  readonly logSources: LogSources;
  readonly tasks: Launches | null;
  readonly tally: Tally | undefined;
  readonly images: Asked;
  readonly clear: NodeOptions["clear"];
  readonly on: (key: string, event: Event) => void;
  readonly running: (key: string) => boolean;
  /** Of an order that comes now: later than that of any before it. */
  readonly arrivedAtMs: () => number;
  readonly mustWait: (exclusive: boolean) => boolean;
  readonly send: Link["send"];
}

export type TakeOrder = (message: pb.ServerMessage["message"], client: Client) => void;

export function takeOrders(node: OrderedNode): TakeOrder {
  const { log, reports, saving, screens, liveness, figures, logSources, tasks, tally, on, send } = node;

  function stop(order: pb.StopOrder): void {
    const { graceSeconds, reason, allocationId } = order;
    // 0 is "not said": then what the run order said holds.
    const graceMs = graceSeconds > 0 ? graceSeconds * 1000 : null;
    withKey(order, (key) => {
      screens.notice(key, stopText(reason, allocationId));
      liveness.stop(key);
      saving.end(key);
      on(key, { kind: "stop", graceMs, reason });
    });
  }

  /** Nodes without files of their own have nothing to remove. */
  async function clearCheckpoints({ allocationId, clear }: pb.ClearCheckpoints): Promise<void> {
    const note = async () => clear !== undefined && ((await node.clear?.(allocationId, clear)) ?? true);
    const taken = await note().catch((error: Error) => {
      log.warn({ allocation: allocationId, error: error.message }, "old checkpoints are left to another node");
      return false;
    });
    send({ case: "clearAnswer", value: create(pb.ClearAnswerSchema, { allocationId, taken }) });
  }

  /** Keys become folder names: what is no id goes no further. */
  function withKey(of: { allocationId: string; attempt: number }, act: (key: string) => void): void {
    if (parseAllocationId(of.allocationId) === null) {
      log.error({ allocation: of.allocationId.slice(0, 64) }, "an order with a malformed allocation id is ignored");
      return;
    }
    act(attemptKey(of.allocationId, of.attempt));
  }

  return (message, client) => {
    switch (message.case) {
      case "run": {
        const order = orderOf(message.value, node.arrivedAtMs());
        const wait = node.mustWait(order.exclusive);
        return withKey(order, (key) => on(key, { kind: "run", order, wait }));
      }
      case "stop":
        return stop(message.value);
      case "forget":
        return withKey(message.value, (key) => {
          reports.forget(key);
          on(key, { kind: "forget" });
        });
      case "clearCheckpoints":
        return void clearCheckpoints(message.value);
      case "ack": {
        const key = reports.acknowledge(message.value.number);
        if (key !== null) on(key, { kind: "acknowledged" });
        return;
      }
      case "openLogs":
        return void openLogs(logSources, message.value, client);
      case "openTerminal":
        return withKey(message.value, () => screens.open(client, message.value));
      case "checkpoint":
        return withKey(message.value, (key) => node.running(key) && saving.order(key, message.value));
      case "setTelemetry":
        return withKey(message.value, (key) => figures.mode(key, message.value.mode));
      case "heartbeatEcho":
        return tally?.echoed(message.value.sequence);
      case "closeLogs":
        return logSources.streams.close(message.value.streamId);
      case "imageRequest":
        return void answerAsked(node.images, message.value).then((value) => send({ case: "imageAnswer", value }));
      case "startTasks":
        return withKey(message.value, (key) => void tasks?.start(key, message.value, client));
      default:
        log.warn({ message: message.case ?? "none" }, "a message this agent does not know");
    }
  };
}
