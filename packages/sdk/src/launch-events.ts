// Parses the lines of a launch response into events with their position in the stream of their node.

import type { LaunchTasksRequest, NodeTasks } from "../gen/types.ts";
import { fromBase64 } from "./base64.ts";
import { errorFromAnswer } from "./error.ts";

export type LaunchRequest = Omit<LaunchTasksRequest, "allocation_id" | "resumable" | "resume"> & {
  readonly command: readonly string[];
};

export type LaunchEvent =
  | { readonly kind: "started"; readonly launchId: string; readonly layout: readonly NodeTasks[] }
  | { readonly kind: "output"; readonly rank: number; readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }
  | {
      readonly kind: "task_end";
      readonly rank: number;
      readonly node: string;
      readonly exitCode: number;
      readonly signal: number;
      readonly message: string;
    }
  /** The last one. `reason` is empty when every task ended well. */
  | { readonly kind: "end"; readonly exitCode: number; readonly reason: string };

export interface PlacedEvent {
  readonly event: LaunchEvent;
  readonly nodeIndex: number;
  /** 0: the event has no number. */
  readonly number: number;
  /** The number of the launch among those of the job's script. */
  readonly call: number;
  /** URLs of the servers of the cluster. */
  readonly servers: readonly string[];
}

/** Parses one line; returns `null` for an unknown kind of event. Throws the problem that ended the stream. */
export function eventFrom(line: string): PlacedEvent | null {
  const json = JSON.parse(line) as EventJson;
  const event = eventOf(json);
  if (event === null) return null;
  const { started, node_index: nodeIndex = 0, number = 0 } = json;
  return { event, nodeIndex, number, call: started?.call ?? 0, servers: started?.servers ?? [] };
}

/** Fields with their default value are left out by the server. */
interface EventJson {
  readonly started?: {
    readonly launch_id?: string;
    readonly layout?: readonly Partial<NodeTasks>[];
    readonly call?: number;
    readonly servers?: readonly string[];
  };
  readonly output?: { readonly rank?: number; readonly stream?: "stdout" | "stderr"; readonly data?: string };
  readonly task_end?: {
    readonly rank?: number;
    readonly node?: string;
    readonly exit_code?: number;
    readonly signal?: number;
    readonly message?: string;
  };
  readonly end?: { readonly exit_code?: number; readonly reason?: string };
  readonly problem?: object;
  readonly node_index?: number;
  readonly number?: number;
}

function eventOf({ started, output, task_end: task, end, problem }: EventJson): LaunchEvent | null {
  if (problem !== undefined) throw errorFromAnswer(0, JSON.stringify(problem));
  if (started !== undefined) {
    const layout = (started.layout ?? []).map(({ node = "", first_rank = 0, tasks = 0 }) => ({
      node,
      first_rank,
      tasks,
    }));
    return { kind: "started", launchId: started.launch_id ?? "", layout };
  }
  if (output !== undefined) {
    const { rank = 0, stream = "stdout", data = "" } = output;
    return { kind: "output", rank, stream, data: fromBase64(data) };
  }
  if (task !== undefined) {
    const { rank = 0, node = "", exit_code: exitCode = 0, signal = 0, message = "" } = task;
    return { kind: "task_end", rank, node, exitCode, signal, message };
  }
  return end === undefined ? null : { kind: "end", exitCode: end.exit_code ?? 0, reason: end.reason ?? "" };
}
