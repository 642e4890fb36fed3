// Opens the output of an attempt for a server: its file, its start, and whether more may come.

import type { Client } from "@grpc/grpc-js";
import { parseAllocationId } from "@lattice/core";
import { pb } from "@lattice/wire";
import { attemptKey } from "../lifecycle/attempt.ts";
import type { LogStreams } from "./log-streams.ts";
import type { LogRequest } from "./send.ts";
import type { Shipper } from "./ship/shipper.ts";

export interface LogSources {
  readonly streams: LogStreams;
  readonly logFile: (key: string, stream: "stdout" | "stderr") => Promise<string | null>;
  /** `undefined` when the whole output stays on the node. */
  readonly kept: Pick<Shipper, "startOf" | "startNow"> | undefined;
  readonly live: (key: string) => boolean;
  /** The user of an attempt, also of one that has ended; "" when unknown. */
  readonly userOf: (key: string) => string;
}

export async function openLogs(from: LogSources, order: pb.OpenLogs, client: Client): Promise<void> {
  const key = attemptKey(order.allocationId, order.attempt);
  const known = parseAllocationId(order.allocationId) !== null;
  const stream = order.stream === pb.LogStream.STDERR ? "stderr" : "stdout";
  const path = known ? await from.logFile(key, stream) : null;
  // Opened before the start offset is read: a reader must notice parts freed meanwhile.
  const startNow = from.kept?.startNow(key, stream) ?? null;
  const { streamId, tail, follow, sinceMs, untilMs } = order;
  const request: LogRequest = {
    streamId,
    tail,
    follow,
    path,
    moved: () => from.logFile(key, stream),
    offset: Number(order.offset),
    time: { sinceMs, untilMs },
    start: (await from.kept?.startOf(key, stream)) ?? 0,
    ...(startNow === null ? null : { startNow }),
    live: () => from.live(key),
  };
  from.streams.open(client, request, { user: from.userOf(key), allocationId: order.allocationId });
}
