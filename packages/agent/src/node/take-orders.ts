// Passes each message of a server to the responsible part of the node. It makes no decisions.

import { create } from "@bufbuild/protobuf";
import type { Client } from "@grpc/grpc-js";
import { parseAllocationId } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { AttemptCheckpoints } from "../checkpoint/attempt-checkpoints.ts";
import { answerQuery, type ImageQuestionHost } from "../images/answer.ts";
import { type AttemptEvent, attemptKey, isExclusive } from "../lifecycle/attempt.ts";
import type { Link } from "../link/link.ts";
import type { ReportBuffer } from "../link/reports.ts";
import { type LogSources, openLogs } from "../logs/open-logs.ts";
import type { Tally } from "../metrics/tally.ts";
import type { Probes } from "../probes/probes.ts";
import type { NodeLaunchTable } from "../tasks/launches.ts";
import type { AttemptMeter } from "../telemetry/measure-attempts.ts";
import { stopText } from "../terminal/stop-text.ts";
import type { Terminals } from "../terminal/terminals.ts";
import type { NodeOptions } from "./node-options.ts";

interface OrderedNode {
  readonly log: Logger;
  readonly reports: ReportBuffer;
  readonly checkpoints: AttemptCheckpoints;
  readonly terminals: Terminals;
  readonly liveness: Probes;
  readonly usage: AttemptMeter;
  readonly logSources: LogSources;
  readonly tasks: NodeLaunchTable | null;
  readonly tally: Tally | undefined;
  readonly images: ImageQuestionHost;
  readonly clear: NodeOptions["clear"];
  readonly networkPeers: NodeOptions["networkPeers"];
  readonly on: (key: string, event: AttemptEvent) => void;
  readonly running: (key: string) => boolean;
  /** Returns an arrival time later than every earlier one. */
  readonly arrivedAtMs: () => number;
  readonly mustWait: (exclusive: boolean) => boolean;
  readonly send: Link["send"];
}

export type TakeOrder = (message: pb.ServerMessage["message"], client: Client) => void;

export function takeOrders(node: OrderedNode): TakeOrder {
  const { log, reports, checkpoints, terminals, liveness, usage, logSources, tasks, tally, on, send } = node;

  function stop(order: pb.StopOrder): void {
    const { graceSeconds, reason, allocationId } = order;
    // 0 means unset: the grace of the run order applies.
    const graceMs = graceSeconds > 0 ? graceSeconds * 1000 : null;
    withKey(order, (key) => {
      terminals.notice(key, stopText(reason, allocationId));
      liveness.stop(key);
      checkpoints.end(key);
      on(key, { kind: "stop", graceMs, reason });
    });
  }

  /** Simulated nodes have no files to remove. */
  async function clearCheckpoints({ allocationId, clear }: pb.ClearCheckpoints): Promise<void> {
    const note = async () => clear !== undefined && ((await node.clear?.(allocationId, clear)) ?? true);
    const accepted = await note().catch((error: Error) => {
      log.warn(
        { allocation: allocationId, error: error.message },
        "checkpoint removal failed here; another node removes them",
      );
      return false;
    });
    send({ case: "clearAnswer", value: create(pb.ClearAnswerSchema, { allocationId, accepted }) });
  }

  /** Keys become directory names, so invalid ids are dropped. */
  function withKey(of: { allocationId: string; attempt: number }, act: (key: string) => void): void {
    if (parseAllocationId(of.allocationId) === null) {
      log.error({ allocation: of.allocationId.slice(0, 64) }, "order ignored: malformed allocation id");
      return;
    }
    act(attemptKey(of.allocationId, of.attempt));
  }

  return (message, client) => {
    switch (message.case) {
      case "run": {
        const received = { order: message.value, arrivedAtMs: node.arrivedAtMs() };
        const wait = node.mustWait(isExclusive(message.value));
        return withKey(message.value, (key) => on(key, { kind: "run", received, wait }));
      }
      case "stop": {
        const { ifWaiting, reason } = message.value;
        if (!ifWaiting) return stop(message.value);
        return withKey(message.value, (key) => on(key, { kind: "recall", reason }));
      }
      case "forget":
        return withKey(message.value, (key) => {
          reports.forget(key);
          on(key, { kind: "forget" });
        });
      case "clearCheckpoints":
        return void clearCheckpoints(message.value);
      case "networkPeers":
        return node.networkPeers?.(message.value);
      case "ack": {
        const key = reports.acknowledge(message.value.number);
        if (key !== null) on(key, { kind: "acknowledged" });
        return;
      }
      case "openLogs":
        return void openLogs(logSources, message.value, client);
      case "openTerminal":
        return withKey(message.value, () => terminals.open(client, message.value));
      case "checkpoint":
        return withKey(message.value, (key) => node.running(key) && checkpoints.order(key, message.value));
      case "setTelemetry":
        return withKey(message.value, (key) => usage.mode(key, message.value.mode));
      case "heartbeatEcho":
        return tally?.echoed(message.value.sequence);
      case "closeLogs":
        return logSources.streams.close(message.value.streamId);
      case "imageRequest":
        return void answerQuery(node.images, message.value).then((value) => send({ case: "imageAnswer", value }));
      case "startTasks":
        return withKey(message.value, (key) => void tasks?.start(key, message.value, client));
      default:
        log.warn({ case: message.case ?? "none" }, "message ignored: unknown to this agent");
    }
  };
}
