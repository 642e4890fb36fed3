// Runs a launch from the client side. The client acknowledges output, so that nodes can discard it. When the server is
// lost, loses leadership or rejects the token, the client resumes the launch at any server, without losing or repeating
// output. A launch without any response is not retried: it may have run.

import { ProblemError } from "@lattice/wire";
import type { Caller, CallOptions } from "./call.ts";
import { LatticeError } from "./error.ts";
import { eventFrom, type LaunchEvent, type LaunchRequest, type PlacedEvent } from "./launch-events.ts";
import { sleep } from "./retry.ts";
import { hasLapsed } from "./token.ts";

/** The position from which a launch is resumed. */
export interface LaunchPosition {
  /** Empty for a call on a node other than the first, which only waits for the end. */
  readonly launchId: string;
  /** The last event number received from each node of the layout. */
  readonly positions: readonly number[];
  readonly call: number;
  /** URLs of the other servers of the cluster. */
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

interface LaunchCalls extends Pick<Caller, "open" | "learn"> {
  readonly path: string;
  readonly control: ControlLaunch;
  readonly id: string;
}

/** Servers wait this long for a lost caller. */
const PATIENCE_MS = 60_000;
const RESUME_INTERVAL_MS = 250;
/** A quarter of the output that a node buffers before its tasks block. */
const ACKNOWLEDGE_BYTES = 256 * 1024;
/** Memory that one event takes on the node besides its output. */
const EVENT_BYTES = 64;
const FINISH_TIMEOUT_MS = 2_000;

export async function* launchTasks(
  calls: LaunchCalls,
  request: LaunchRequest,
  options: LaunchOptions,
): AsyncGenerator<LaunchEvent> {
  const progress = new Progress(options.resume ?? null);
  calls.learn(options.resume?.servers ?? []);
  const patience = options.patienceMs ?? PATIENCE_MS;
  let goodUntil = Date.now() + patience;
  for (;;) {
    try {
      for await (const placed of answers(calls, progress.request(request), options)) {
        goodUntil = Number.POSITIVE_INFINITY;
        calls.learn(placed.servers);
        if (progress.isNew(placed)) yield placed.event;
        progress.took(placed);
        const { launchId } = progress.at;
        if (placed.event.kind === "end") {
          // If this message is lost, the servers notice the end themselves.
          if (launchId !== "")
            await calls
              .control(calls.id, launchId, { finished: true }, { timeoutMs: FINISH_TIMEOUT_MS })
              .catch(() => undefined);
          return;
        }
        if (progress.needsAcknowledgement()) await acknowledge(calls, progress, options);
      }
      throw broken("the server closed the launch stream before the tasks ended");
    } catch (error) {
      if (!progress.started || options.signal?.aborted === true || !canResume(error)) throw error;
      if (goodUntil === Number.POSITIVE_INFINITY) goodUntil = Date.now() + patience;
      if (Date.now() >= goodUntil) throw givenUp(error, patience);
      await sleep(RESUME_INTERVAL_MS, options.signal);
    }
  }
}

async function* answers(calls: LaunchCalls, body: object, options: LaunchOptions): AsyncGenerator<PlacedEvent> {
  const repeatable = "resume" in body;
  const call = {
    method: "POST",
    path: calls.path,
    body,
    repeatable,
    headers: { accept: "application/x-ndjson" },
  } as const;
  // Tasks may be silent for days.
  const response = await calls.open(call, { ...options, idleTimeoutMs: 0 });
  for await (const line of eachLine(response.body)) {
    const placed = eventFrom(line);
    if (placed !== null) yield placed;
  }
}

/** Acknowledges received output. A lost acknowledgement is covered by the next one. */
async function acknowledge(calls: LaunchCalls, progress: Progress, { signal }: LaunchOptions): Promise<void> {
  const { launchId, positions } = progress.at;
  await calls.control(calls.id, launchId, { acknowledged: positions }, { signal }).catch(() => undefined);
  progress.clearUnacknowledged();
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

  /** Records the start of a launch. Returns whether the caller must see the event; repeats are dropped. */
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

  needsAcknowledgement = (): boolean => this.#bytes >= ACKNOWLEDGE_BYTES;
  clearUnacknowledged(): void {
    this.#bytes = 0;
  }
}

const givenUp = (error: unknown, patienceMs: number): ProblemError =>
  broken(
    `the launch was interrupted and could not be resumed within ${patienceMs / 1000} s: ` +
      (error instanceof ProblemError ? error.problem.detail : String(error)),
  );

const broken = (detail: string): ProblemError => new ProblemError("connection_failed", { detail });

/** Only a lost server, a change of leader or an expired token can pass; other errors would repeat. */
const canResume = (error: unknown): boolean =>
  error instanceof ProblemError &&
  (hasLapsed(error) ||
    error.problem.code === "connection_failed" ||
    error.problem.code === "not_leader" ||
    (error instanceof LatticeError && error.problem.retryable));

async function* eachLine(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield line;
  }
  if (rest !== "") yield rest;
}
