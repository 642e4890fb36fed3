// One run of a planner, from its start to its end: copies the state to it in small turns, sends it every entry that the
// replica applies, the connections of agents and measurements, and matches replies with calls. A run that ends fails its
// open calls.

import { duration, type NodeId, type VClusterId } from "@lattice/core";
import type { Reservation } from "@lattice/scheduler";
import { ProblemError, problemFromRefusal } from "@lattice/wire";
import type { Clock } from "../../base/clock.ts";
import type { AgentHub } from "../../nodes/agents/hub.ts";
import type { Replica } from "../../state/replica/replica.ts";
import { createEntryBatch } from "./entry-batch.ts";
import { isSameFacts } from "./measured.ts";
import type { CallFacts, FromPlanner, MeasuredFacts, PlannerQuestion } from "./messages.ts";
import type { PlannerPort, StartPlanner } from "./port.ts";

/** Lines of the state sent in one turn: one or two milliseconds. */
const COPY_LINES = 200;
/** Entries wait this long for a call, which needs them: each message wakes a thread, and most entries come in groups. */
const SEND_WITHIN = duration(20);
/** More are sent at once, so that the next call does not wait until they are folded. */
const MAX_WAITING_BYTES = 128 * 1024;
/** The longest cycle of a large cluster takes seconds; a planner that does not answer for this long is stuck. */
const ANSWER_WITHIN = duration(120_000);

export interface RunParts {
  readonly start: StartPlanner;
  readonly replica: Pick<Replica, "view" | "copy" | "onApplied">;
  readonly hub: Pick<AgentHub, "connected" | "onConnect" | "onDisconnect">;
  readonly clock: Clock;
  readonly measured: () => MeasuredFacts;
  /** Reservations of the planner before. */
  readonly reservations: ReadonlyMap<VClusterId, readonly Reservation[]>;
  /** Called with messages that answer no call. */
  readonly onMessage: (message: FromPlanner) => void;
  /** Called once. */
  readonly onEnd: (cause: Error) => void;
}

type Call =
  | { readonly kind: "cycle"; readonly facts: CallFacts; readonly vcluster: VClusterId }
  | { readonly kind: "ask"; readonly facts: CallFacts; readonly question: PlannerQuestion };

interface Waiting {
  resolve(result: unknown): void;
  reject(cause: Error): void;
  readonly cancel: () => void;
}

/** The planner failed on one call; it is still running. */
class PlanningError extends Error {}

export class PlannerRun {
  readonly #parts: RunParts;
  readonly #port: PlannerPort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #batch = createEntryBatch();
  readonly #connections = new Map<NodeId, boolean>();
  readonly #unsubscribe: readonly (() => void)[];
  #lastCall = 0;
  #sent: MeasuredFacts | null = null;
  #state: "copying" | "following" | "ended" = "copying";
  #cancelFlush: (() => void) | null = null;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { start, replica, hub } = parts;
    this.#port = start({ onMessage: (message) => this.#receive(message), onEnd: (cause) => this.end(cause) });
    const lines = replica.copy()[Symbol.iterator]();
    this.#unsubscribe = [
      replica.onApplied((_applied, bytes) => this.#take(bytes)),
      hub.onConnect((node) => void this.#connections.set(node, true)),
      hub.onDisconnect((node) => void this.#connections.set(node, false)),
    ];
    for (const { id } of replica.view.nodes()) if (hub.connected(id)) this.#connections.set(id, true);
    void this.#copy(lines);
  }

  /** Rejects when the planner ends before it has answered, and with a PlanningError when it fails on this call. */
  call(call: Call): Promise<unknown> {
    if (this.#state !== "following") return Promise.reject(new Error("the planner has no state yet"));
    this.#flush();
    this.#sendFacts();
    this.#lastCall += 1;
    const number = this.#lastCall;
    return new Promise((resolve, reject) => {
      const late = new Error(`the planner has not answered for ${ANSWER_WITHIN / 1000} s`);
      const cancel = this.#parts.clock.after(ANSWER_WITHIN, () => this.end(late));
      this.#waiting.set(number, { resolve, reject, cancel });
      this.#port.post({ ...call, call: number });
    });
  }

  hasEnded(): boolean {
    return this.#state === "ended";
  }

  end(cause: Error): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#cancelFlush?.();
    this.#port.close();
    for (const { reject, cancel } of this.#waiting.values()) {
      cancel();
      reject(cause);
    }
    this.#waiting.clear();
    this.#parts.onEnd(cause);
  }

  async #copy(lines: Iterator<string>): Promise<void> {
    let isDone = false;
    while (!isDone && this.#state === "copying") {
      const some: string[] = [];
      while (some.length < COPY_LINES) {
        const { done, value } = lines.next();
        if (done === true) break;
        some.push(value);
      }
      this.#port.post({ kind: "lines", lines: some });
      isDone = some.length < COPY_LINES;
      if (!isDone) await this.#parts.clock.turn();
    }
    if (this.#state !== "copying") return;
    this.#port.post({ kind: "restored", reservations: this.#parts.reservations });
    this.#state = "following";
    this.#flush();
  }

  #take(bytes: Uint8Array): void {
    this.#batch.add(bytes);
    if (this.#state !== "following") return;
    if (this.#batch.waitingBytes >= MAX_WAITING_BYTES) this.#flush();
    else this.#cancelFlush ??= this.#parts.clock.after(SEND_WITHIN, () => this.#flush());
  }

  #flush(): void {
    if (this.#state !== "following") return;
    this.#cancelFlush?.();
    this.#cancelFlush = null;
    const entries = this.#batch.take();
    if (entries !== null) this.#port.post({ kind: "entries", ...entries }, [entries.bytes.buffer as ArrayBuffer]);
  }

  #sendFacts(): void {
    if (this.#connections.size > 0) {
      this.#port.post({ kind: "connections", changed: new Map(this.#connections) });
      this.#connections.clear();
    }
    const facts = this.#parts.measured();
    if (this.#sent !== null && isSameFacts(this.#sent, facts)) return;
    this.#sent = facts;
    this.#port.post({ kind: "measured", facts });
  }

  #receive(message: FromPlanner): void {
    if (this.#state === "ended") return;
    if (message.kind !== "cycled" && message.kind !== "answered" && message.kind !== "failed") {
      this.#parts.onMessage(message);
      return;
    }
    const waiting = this.#waiting.get(message.call);
    this.#waiting.delete(message.call);
    waiting?.cancel();
    if (message.kind === "cycled") waiting?.resolve(message.reply);
    else if (message.kind === "answered") waiting?.resolve(message.answer);
    else waiting?.reject(failureOf(message));
  }
}

const failureOf = ({ refusal, message }: Extract<FromPlanner, { readonly kind: "failed" }>): Error =>
  refusal === null ? new PlanningError(message) : ProblemError.of(problemFromRefusal(refusal));
