// Runs a launch from the client side. The client acknowledges output, so that nodes can discard it. When the server is
// lost, loses leadership or rejects the token, the client resumes the launch at any server, without losing or repeating
// output. A launch without any response is not retried: it may have run.

import { ProblemError } from "@lattice/wire";
import type { Caller, CallOptions } from "./call.ts";
import { LatticeError } from "./error.ts";
import { eventFrom, type LaunchEvent, type LaunchRequest, type PlacedEvent } from "./launch-events.ts";
import { eachLine } from "./lines.ts";
import { sleep } from "./retry.ts";
import { hasLapsed } from "./token.ts";

/** What has come of a launch. */
export interface LaunchPosition {
  /** Empty: this is the call of another node than the first, which waits for its end. */
  readonly launchId: string;
  /** By node of its layout. */
  readonly positions: readonly number[];
  readonly call: number;
  /** Where other servers of the cluster are. */
  readonly servers?: readonly string[];
}

export interface LaunchOptions extends CallOptions {
  /** Resumes a launch; only the caller fields of the request are used. */
  readonly resume?: LaunchPosition;
  /** How long to try to resume a launch. */
  readonly patienceMs?: number;
}

export type ControlLaunch = (
  id: string,
  launchId: string,
  what: { readonly acknowledged?: readonly number[]; readonly end?: boolean; readonly finished?: boolean },
  options?: CallOptions,
) => Promise<void>;

export interface LaunchDoor extends Pick<Caller, "open" | "learn"> {
  readonly path: string;
  readonly tell: ControlLaunch;
  readonly id: string;
}

/** As long as servers wait for a caller. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 250;
/** A quarter of what nodes keep before they make tasks wait. */
const TELL_EVERY_BYTES = 256 * 1024;
/** What an event costs them beyond its output. */
const EVENT_BYTES = 64;
const LAST_WORD_MS = 2_000;

export async function* launchTasks(
  door: LaunchDoor,
  request: LaunchRequest,
  options: LaunchOptions,
): AsyncGenerator<LaunchEvent> {
  const progress = new Progress(options.resume ?? null);
  door.learn(options.resume?.servers ?? []);
  const patience = options.patienceMs ?? PATIENCE_MS;
  let goodUntil = Date.now() + patience;
  for (;;) {
    try {
      for await (const placed of answers(door, progress.request(request), options)) {
        goodUntil = Number.POSITIVE_INFINITY;
        door.learn(placed.servers);
        if (progress.isNew(placed)) yield placed.event;
        progress.took(placed);
        const { launchId } = progress.at;
        if (placed.event.kind === "end") {
          // When it is lost the servers find out by themselves.
          if (launchId !== "")
            await door.tell(door.id, launchId, { finished: true }, { timeoutMs: LAST_WORD_MS }).catch(() => undefined);
          return;
        }
        if (progress.isMuch()) await tellTaken(door, progress, options);
      }
      throw broken("the server closed the launch stream before the tasks ended");
    } catch (error) {
      if (!progress.started || options.signal?.aborted === true || !canResume(error)) throw error;
      if (goodUntil === Number.POSITIVE_INFINITY) goodUntil = Date.now() + patience;
      if (Date.now() >= goodUntil) throw givenUp(error, patience);
      await sleep(PAUSE_MS, options.signal);
    }
  }
}

async function* answers(door: LaunchDoor, body: object, options: LaunchOptions): AsyncGenerator<PlacedEvent> {
  const repeatable = "resume" in body;
  const call = {
    method: "POST",
    path: door.path,
    body,
    repeatable,
    headers: { accept: "application/x-ndjson" },
  } as const;
  // Tasks may be silent for days.
  const response = await door.open(call, { ...options, idleTimeoutMs: 0 });
  for await (const line of eachLine(response.body)) {
    const placed = eventFrom(line);
    if (placed !== null) yield placed;
  }
}

/** One that does not arrive is made up for by the next. */
async function tellTaken(door: LaunchDoor, progress: Progress, { signal }: LaunchOptions): Promise<void> {
  const { launchId, positions } = progress.at;
  await door.tell(door.id, launchId, { acknowledged: positions }, { signal }).catch(() => undefined);
  progress.told();
}

class Progress {
  #launchId: string;
  #call: number;
  readonly #positions: number[];
  readonly #ended = new Set<number>();
  #bytes = 0;
  started: boolean;

  constructor(from: LaunchPosition | null) {
    this.started = from !== null;
    this.#launchId = from?.launchId ?? "";
    this.#call = from?.call ?? 0;
    this.#positions = [...(from?.positions ?? [])];
  }

  get at(): LaunchPosition {
    return { launchId: this.#launchId, positions: this.#positions, call: this.#call };
  }

  request(first: LaunchRequest): object {
    if (!this.started) return { ...first, resumable: true };
    const { caller_node, caller_attempt } = first;
    const caller = caller_node === undefined ? {} : { caller_node, caller_attempt };
    const resume = { launch_id: this.#launchId, positions: this.#positions, call: this.#call };
    return { ...caller, resumable: true, resume };
  }

  /** Notes where a launch stands; false: it is not for the reader, or not again. */
  isNew({ event, call }: PlacedEvent): boolean {
    if (event.kind === "task_end") return !this.#ended.has(event.rank);
    if (event.kind !== "started") return true;
    const again = this.started;
    this.started = true;
    this.#launchId = event.launchId;
    this.#call = call;
    while (this.#positions.length < event.layout.length) this.#positions.push(0);
    return !again && event.launchId !== "";
  }

  took({ event, nodeIndex, number }: PlacedEvent): void {
    if (event.kind === "task_end") this.#ended.add(event.rank);
    if (number > (this.#positions[nodeIndex] ?? 0)) this.#positions[nodeIndex] = number;
    this.#bytes += EVENT_BYTES + (event.kind === "output" ? event.data.length : 0);
  }

  isMuch = (): boolean => this.#bytes >= TELL_EVERY_BYTES;
  told(): void {
    this.#bytes = 0;
  }
}

const givenUp = (error: unknown, patienceMs: number): ProblemError =>
  broken(
    `the launch was interrupted and could not be resumed within ${patienceMs / 1000} s: ` +
      (error instanceof ProblemError ? error.problem.detail : String(error)),
  );

const broken = (detail: string): ProblemError => new ProblemError("connection_failed", { detail });

/** The server is away, or leads no more, or the token has ended; whatever else it says, it would say again. */
const canResume = (error: unknown): boolean =>
  error instanceof ProblemError &&
  (hasLapsed(error) ||
    error.problem.code === "connection_failed" ||
    error.problem.code === "not_leader" ||
    (error instanceof LatticeError && error.problem.retryable));
