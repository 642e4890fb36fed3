// Drives one launch: feeds events to `step` and performs its effects on the streams of the nodes, the timers and the queue of the
// caller. Decides nothing itself.

import { create } from "@bufbuild/protobuf";
import { ProblemError, pb } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import {
  acceptsInput,
  type CallerEvent,
  type LaunchEffect,
  type LaunchSetup,
  type LaunchState,
  type LaunchStepEvent,
  type LaunchTimer,
  newLaunch,
  type Positions,
  type TaskInputChunk,
} from "./launch-state.ts";
import { step } from "./launch-step.ts";
import type { NodeShare } from "./layout.ts";
import type { NameAnswer } from "./names.ts";
import type { LaunchFailure } from "./outcome.ts";

/** The stream that the agent of a node has opened for a launch. */
export interface NodeStream {
  send(order: pb.TasksOrder["order"]): void;
  end(): void;
  /** Breaks the stream with an error that makes the agent look for another server. */
  drop(): void;
}

/** Answers a question about published names, perhaps later. */
export type AskNames = (question: pb.TasksNames, answered: (answer: NameAnswer) => void) => void;

interface LaunchParts extends LaunchSetup {
  readonly clock: Clock;
  readonly askNames: AskNames;
  /** Called when the launch has ended and has no caller. */
  readonly discarded: () => void;
}

export class Launch {
  readonly id: string;
  readonly shares: readonly NodeShare[];
  /** The outcome: `null` after success. */
  readonly ended: Promise<LaunchFailure | null>;
  readonly #parts: LaunchParts;
  readonly #places: ReadonlyMap<string, number>;
  readonly #queue = new EventQueue();
  readonly #streams = new Map<number, NodeStream>();
  readonly #timers = new Map<string, () => void>();
  readonly #pending: LaunchStepEvent[] = [];
  #state: LaunchState;
  #reader: AsyncGenerator<pb.LaunchTasksResponse> | null = null;
  #isBusy = false;
  #settle: (failure: LaunchFailure | null) => void = () => undefined;

  constructor(id: string, parts: LaunchParts) {
    this.id = id;
    this.shares = parts.shares;
    this.#parts = parts;
    this.#places = new Map(parts.shares.map(({ node }, place) => [node, place]));
    this.#state = newLaunch(parts);
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#dispatch({ kind: "opened" });
  }

  /** Returns the events of the launch from there on, up to its end. An earlier reader reads no further. */
  events(from: Positions, signal: AbortSignal): AsyncGenerator<pb.LaunchTasksResponse> {
    this.#dispatch({ kind: "read", from });
    const reader = this.#read(signal, () => this.#reader === reader);
    this.#reader = reader;
    this.#queue.wake();
    return reader;
  }

  isRead(by: AsyncGenerator<pb.LaunchTasksResponse>): boolean {
    return this.#reader === by;
  }

  /** Returns whether a caller that lost the launch can resume it. */
  canResume(): boolean {
    return this.#state.members.every(({ repeats, lost }) => repeats || lost);
  }

  /** The caller is away and may come back; otherwise the launch is ended. */
  awaitCaller(): void {
    this.#dispatch({ kind: "caller_away" });
  }

  acknowledge(positions: Positions): void {
    this.#dispatch({ kind: "acknowledged", positions });
  }

  /** Returns false when the node has no part in the launch. */
  attach(node: string, stream: NodeStream, repeats: boolean): boolean {
    const place = this.#places.get(node);
    if (place === undefined) return false;
    this.#streams.get(place)?.end();
    this.#streams.set(place, stream);
    this.#dispatch({ kind: "attached", place, repeats });
    return true;
  }

  report(node: string, report: pb.TasksReport): void {
    const place = this.#places.get(node);
    if (place !== undefined) this.#dispatch({ kind: "reported", place, report });
  }

  detach(node: string, stream: NodeStream): void {
    const place = this.#places.get(node);
    if (place === undefined || this.#streams.get(place) !== stream) return;
    this.#streams.delete(place);
    this.#dispatch({ kind: "detached", place });
  }

  /** Returns false when the node of the first task is away and too much input waits for it. */
  input(input: TaskInputChunk): boolean {
    if (!acceptsInput(this.#state, input)) return false;
    this.#dispatch({ kind: "input", input });
    return true;
  }

  /** Kills its tasks; the events report their ends. */
  fail(failure: LaunchFailure): void {
    this.#dispatch({ kind: "fail", failure });
  }

  /** No caller reads it any more: further reports are confirmed and dropped so that the tasks can end. */
  discard(): void {
    this.#dispatch({ kind: "discard" });
  }

  /** Everything was read: the agents may forget the launch. */
  close(): void {
    this.#dispatch({ kind: "close" });
  }

  /** Another server leads: sends the nodes and the caller there. */
  leave(): void {
    this.#reader = null;
    this.#queue.wake();
    this.#dispatch({ kind: "leave" });
  }

  /** Steps in the order of the events: one that an effect causes waits until the effects before it are performed. */
  #dispatch(event: LaunchStepEvent): void {
    this.#pending.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
        const [state, effects] = step(this.#state, next);
        this.#state = state;
        for (const effect of effects) this.#perform(effect);
      }
    } finally {
      this.#isBusy = false;
    }
  }

  #perform(effect: LaunchEffect): void {
    switch (effect.kind) {
      case "send":
        this.#streams.get(effect.place)?.send(effect.order);
        break;
      case "end_stream":
        this.#streams.get(effect.place)?.end();
        break;
      case "drop_stream": {
        const stream = this.#streams.get(effect.place);
        this.#streams.delete(effect.place);
        stream?.drop();
        break;
      }
      case "start_timer":
        this.#startTimer(effect.timer, effect.after);
        break;
      case "stop_timer":
        this.#timers.get(keyOf(effect.timer))?.();
        break;
      case "queue":
        this.#queue.add(effect.event);
        break;
      case "clear_queue":
        this.#queue.clear();
        break;
      case "ask_names": {
        const { place, question } = effect;
        const answered = (answer: NameAnswer) => this.#dispatch({ kind: "named", place, id: question.id, answer });
        this.#parts.askNames(question, answered);
        break;
      }
      case "settle":
        this.#settle(effect.failure);
        break;
      case "discarded":
        this.#parts.discarded();
        break;
    }
  }

  #startTimer(timer: LaunchTimer, after: Extract<LaunchEffect, { kind: "start_timer" }>["after"]): void {
    this.#timers.get(keyOf(timer))?.();
    this.#timers.set(
      keyOf(timer),
      this.#parts.clock.after(after, () => this.#dispatch({ kind: "timer", timer })),
    );
  }

  async *#read(signal: AbortSignal, isCurrent: () => boolean): AsyncGenerator<pb.LaunchTasksResponse> {
    const wake = (): void => this.#queue.wake();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted && isCurrent()) {
        const next = this.#queue.next();
        if (next === undefined) {
          await this.#queue.more(signal);
          continue;
        }
        if (next.event.case !== undefined) yield responseOf(next);
        if (next.event.case === "end") return;
        this.#dispatch({ kind: "consumed", event: next });
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
    if (!signal.aborted) throw movedAway();
  }
}

const keyOf = (timer: LaunchTimer): string => (timer.name === "member" ? `member ${timer.place}` : timer.name);

const responseOf = ({ event, place, number }: CallerEvent): pb.LaunchTasksResponse =>
  create(pb.LaunchTasksResponseSchema, { event, nodeIndex: place ?? 0, number });

const movedAway = (): ProblemError =>
  new ProblemError("not_leader", { detail: "The launch continues at another server, or for another reader." });

/** Events on their way to the caller, in order, for one reader at a time. */
class EventQueue {
  #events: CallerEvent[] = [];
  #waiting: (() => void)[] = [];

  add(event: CallerEvent): void {
    this.#events.push(event);
    this.wake();
  }

  next(): CallerEvent | undefined {
    return this.#events.shift();
  }

  clear(): void {
    this.#events = [];
  }

  /** Resolves when there may be an event, or the reader should check whether it still reads. */
  more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (signal.aborted) resolve();
    });
  }

  wake(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const resolve of all) resolve();
  }
}
