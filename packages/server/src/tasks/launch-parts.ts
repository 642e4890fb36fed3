// What a launch is to those who take part in it: its nodes, its caller, and the table of all launches. How long each of them
// is waited for, and what it ends with when nobody comes.

import { type Duration, duration } from "@lattice/core";
import type { pb } from "@lattice/wire";
import type { Clock } from "../clock.ts";
import type { NodeShare } from "./layout.ts";
import type { NodeStream } from "./member.ts";
import type { NameAnswer } from "./names.ts";
import type { Failure } from "./outcome.ts";

/** An agent that is started again is back well before this. */
export const RETURN_WITHIN: Duration = duration(20_000);
/** After a change of leader agents first have to find the new one. */
export const FOUND_WITHIN: Duration = duration(60_000);
/** As long as a caller goes on trying. */
export const CALLER_WITHIN: Duration = duration(60_000);
/** The shell's for a command that was ended from outside. */
const ENDED_EXIT_CODE = 143;

/** By node: what the caller has already. */
export type Positions = readonly number[];

export type TaskInput = Pick<pb.SendTaskInputRequest, "data" | "end" | "offset" | "rows" | "columns">;

export interface Launch {
  readonly id: string;
  readonly shares: readonly NodeShare[];
  /** The events of the launch from there on, to its end; whoever reads already reads no more. */
  events(from: Positions, signal: AbortSignal): AsyncGenerator<pb.LaunchTasksResponse>;
  /** Whether this is who reads now. */
  isRead(by: AsyncGenerator<pb.LaunchTasksResponse>): boolean;
  /** Whether a caller that lost it can take it up. */
  repeats(): boolean;
  /** The caller is away and may come back; when it does not, the launch is ended. */
  awaitCaller(): void;
  /** The caller has all of this. */
  taken(positions: Positions): void;
  /** False: this node has no part in it. */
  attach(node: string, stream: NodeStream, repeats: boolean): boolean;
  report(node: string, report: pb.TasksReport): void;
  detach(node: string, stream: NodeStream): void;
  /** False: its node is away and too much waits for it already. */
  input(input: TaskInput): boolean;
  /** Ends its tasks; the events tell when they have ended. */
  fail(failure: Failure): void;
  /** Nobody reads it any more: what its nodes still say is taken so that they can end. */
  discard(): void;
  /** All is read: its nodes may forget it. */
  close(): void;
  /** Another server leads: nodes and caller are to go there. */
  leave(): void;
  /** How it came out, once it has. */
  readonly ended: Promise<Failure | null>;
}

/** Answers a question about published names, perhaps later. */
export type AskNames = (question: pb.TasksNames, answered: (answer: NameAnswer) => void) => void;

export interface LaunchParts {
  readonly shares: readonly NodeShare[];
  readonly clock: Clock;
  readonly askNames: AskNames;
  /** The caller says what it has; otherwise what it was given counts. */
  readonly returns: boolean;
  /** It has ended, and nobody wants to know. */
  readonly discarded: () => void;
  /** It was begun under another leader, and its caller and nodes are to come yet. */
  readonly takenUp: boolean;
}

export const ENDED_BY_CALLER: Failure = { exitCode: ENDED_EXIT_CODE, reason: "the caller went away" };
export const ENDED_ON_REQUEST: Failure = { exitCode: ENDED_EXIT_CODE, reason: "its caller has ended it" };
export const CALLER_LOST: Failure = {
  exitCode: ENDED_EXIT_CODE,
  reason: `the caller did not come back within ${CALLER_WITHIN / 1000} s`,
};
