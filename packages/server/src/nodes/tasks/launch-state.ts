// The state of one launch in the leader's memory, the events that change it and the effects that it causes. A report of a node is
// confirmed to its agent when the caller has it, so that a slow reader slows the tasks and nothing accumulates in the server.
// `launch-step.ts` decides, `launch.ts` performs.

import { type Duration, duration } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type Exchange, newExchange } from "./fence.ts";
import type { NodeShare } from "./layout.ts";
import type { NameAnswer } from "./names.ts";
import type { LaunchFailure } from "./outcome.ts";

/** A restarted agent is back well before this. */
export const RETURN_WITHIN: Duration = duration(20_000);
/** After a change of leader, agents first have to find the new one. */
export const FOUND_WITHIN: Duration = duration(60_000);
/** As long as a caller retries. */
export const CALLER_WITHIN: Duration = duration(60_000);
/** SIGTERM, two seconds, SIGKILL, and the messages there and back. */
export const END_WITHIN: Duration = duration(15_000);
/** The shell's exit code of a command that was terminated. */
const TERMINATED_EXIT_CODE = 143;

export const ENDED_BY_CALLER: LaunchFailure = { exitCode: TERMINATED_EXIT_CODE, reason: "the caller disconnected" };
export const ENDED_ON_REQUEST: LaunchFailure = {
  exitCode: TERMINATED_EXIT_CODE,
  reason: "the caller ended the launch",
};
export const CALLER_LOST: LaunchFailure = {
  exitCode: TERMINATED_EXIT_CODE,
  reason: `the caller did not come back within ${CALLER_WITHIN / 1000} s`,
};

/** By place of the node: the number of the last report that the caller has. */
export type Positions = readonly number[];

export type TaskInputChunk = Pick<pb.SendTaskInputRequest, "data" | "end" | "offset" | "rows" | "columns">;

/** An event on its way to the caller. `place` is `null` for an event of the launch as a whole. */
export interface CallerEvent {
  readonly event: pb.LaunchTasksResponse["event"];
  readonly place: number | null;
  readonly number: number;
}

/** One node of the launch. Its place is its index in the layout. */
export interface MemberState {
  readonly node: string;
  /** Its agent has a stream to this server. */
  readonly isAttached: boolean;
  /** It repeats unconfirmed reports on request. */
  readonly repeats: boolean;
  /** It has answered since this server leads. */
  readonly seen: boolean;
  /** Number of the last report queued for the caller. */
  readonly received: number;
  /** Number of the last report that the caller has. */
  readonly taken: number;
  /** Number of the last report confirmed to the agent. */
  readonly confirmed: number;
  readonly unconfirmedBytes: number;
  /** Number of the last report that asked about names. */
  readonly questioned: number;
  /** All its tasks have ended. */
  readonly done: boolean;
  /** Its end is queued behind everything else for the caller. */
  readonly delivered: boolean;
  /** It did not come back. */
  readonly lost: boolean;
  /** Recent answers about names, which the agent may have missed. */
  readonly named: readonly pb.TasksNamed[];
  /** Ends of its tasks, for a caller that comes back. */
  readonly ends: readonly { readonly number: number; readonly end: pb.TaskEnd }[];
}

export interface LaunchState {
  readonly members: readonly MemberState[];
  readonly exchange: Exchange;
  /** `wait`: no caller has reported its position yet. `discard`: no caller will come. */
  readonly mode: "deliver" | "wait" | "discard";
  /** The first failure decides the outcome. */
  readonly failure: LaunchFailure | null;
  readonly isOver: boolean;
  readonly hasReader: boolean;
  /** The caller acknowledges what it has; otherwise sent events count as received. */
  readonly resumable: boolean;
  /** The launch was started under another leader; its caller and nodes are still to come. */
  readonly adopted: boolean;
  /** Input for the first task whose node has no stream yet. */
  readonly pendingInput: readonly TaskInputChunk[];
  /** Lookups of an adopted launch, postponed until all nodes have published their names again. */
  readonly postponed: readonly NameQuestion[];
}

export interface NameQuestion {
  readonly place: number;
  readonly question: pb.TasksNames;
}

export type LaunchTimer =
  | { readonly name: "member"; readonly place: number; readonly within: Duration }
  | { readonly name: "caller" }
  | { readonly name: "end" };

export type LaunchStepEvent =
  | { readonly kind: "opened" }
  | { readonly kind: "attached"; readonly place: number; readonly repeats: boolean }
  | { readonly kind: "detached"; readonly place: number }
  | { readonly kind: "reported"; readonly place: number; readonly report: pb.TasksReport }
  | { readonly kind: "named"; readonly place: number; readonly id: number; readonly answer: NameAnswer }
  | { readonly kind: "timer"; readonly timer: LaunchTimer }
  /** A caller reads from there on. */
  | { readonly kind: "read"; readonly from: Positions }
  /** The reader has received the event. */
  | { readonly kind: "consumed"; readonly event: CallerEvent }
  /** The caller has everything up to there. */
  | { readonly kind: "acknowledged"; readonly positions: Positions }
  /** The caller is away and may come back. */
  | { readonly kind: "caller_away" }
  | { readonly kind: "input"; readonly input: TaskInputChunk }
  | { readonly kind: "fail"; readonly failure: LaunchFailure }
  /** No caller reads any more: reports are dropped so that the tasks can end. */
  | { readonly kind: "discard" }
  /** Everything was read: the agents may forget the launch. */
  | { readonly kind: "close" }
  /** Another server leads. */
  | { readonly kind: "leave" };

/** Performed in order. A message to a node is sent only while it is attached. */
export type LaunchEffect =
  | { readonly kind: "send"; readonly place: number; readonly order: pb.TasksOrder["order"] }
  | { readonly kind: "end_stream"; readonly place: number }
  | { readonly kind: "drop_stream"; readonly place: number }
  | { readonly kind: "start_timer"; readonly timer: LaunchTimer; readonly after: Duration }
  | { readonly kind: "stop_timer"; readonly timer: LaunchTimer }
  | { readonly kind: "queue"; readonly event: CallerEvent }
  | { readonly kind: "clear_queue" }
  | ({ readonly kind: "ask_names" } & NameQuestion)
  | { readonly kind: "settle"; readonly failure: LaunchFailure | null }
  /** The launch has ended and has no caller. */
  | { readonly kind: "discarded" };

export interface LaunchSetup {
  readonly shares: readonly NodeShare[];
  readonly resumable: boolean;
  readonly adopted: boolean;
}

export const newLaunch = ({ shares, resumable, adopted }: LaunchSetup): LaunchState => ({
  members: shares.map(({ node }) => newMember(node)),
  exchange: newExchange(shares.length),
  mode: adopted ? "wait" : "deliver",
  failure: null,
  isOver: false,
  hasReader: false,
  resumable,
  adopted,
  pendingInput: [],
  postponed: [],
});

const newMember = (node: string): MemberState => ({
  node,
  isAttached: false,
  repeats: true,
  seen: false,
  received: 0,
  taken: 0,
  confirmed: 0,
  unconfirmedBytes: 0,
  questioned: 0,
  done: false,
  delivered: false,
  lost: false,
  named: [],
  ends: [],
});

const MAX_PENDING_INPUT_BYTES = 1024 * 1024;

/** Returns whether the server may buffer this input until the first task's node attaches. */
export function acceptsInput({ pendingInput }: LaunchState, { data }: TaskInputChunk): boolean {
  const pending = pendingInput.reduce((sum, piece) => sum + piece.data.length, 0);
  return pending + data.length <= MAX_PENDING_INPUT_BYTES;
}
