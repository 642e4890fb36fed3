// Compares the state of this server with those of the others every few seconds, on every server. A server whose state
// differs gives up the leadership and stops serving until it is restarted, which builds its state from the log again. The
// leader raises a notice for each such server, and clears it when the states agree again.

import { type Command, duration, type Notice, noticeKey, type View } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../base/clock.ts";
import type { Metrics } from "../base/observe/index.ts";
import type { StateMark } from "../state/replica/hash-series.ts";
import { type Comparison, compareStates, type Divergence, type ServerState } from "./compare-states.ts";

const COMPARE_EVERY = duration(5_000);

/** The answer of another server. */
export interface ComparedServer extends ServerState {
  /** It has found itself that its state differs. */
  readonly diverged: boolean;
}

interface DivergenceParts {
  readonly selfId: string;
  readonly ownMarks: () => readonly StateMark[];
  /** Asks the servers that are present. */
  readonly others: () => Promise<readonly ComparedServer[]>;
  readonly leaderId: () => string | null;
  readonly leads: () => boolean;
  /** Whether a server is a member, present or not. */
  readonly isMember: (id: string) => boolean;
  /** Ends the leadership for good. */
  readonly giveUpLead: () => Promise<void>;
  readonly view: () => Pick<View, "notice" | "notices">;
  readonly propose: (command: Command) => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "stateCompared" | "stateDiverged">;
}

export class DivergenceWatch {
  readonly #parts: DivergenceParts;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #found: Divergence | null = null;

  constructor(parts: DivergenceParts) {
    this.#parts = parts;
  }

  start(): this {
    this.#parts.metrics.stateDiverged(false);
    this.#running = this.#run();
    return this;
  }

  /** `null`: no difference was found since the start. */
  found(): Divergence | null {
    return this.#found;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!this.#stop.signal.aborted) {
      await sleep(clock, COMPARE_EVERY, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      await this.compare().catch((error: unknown) => logger.warn({ err: error }, "state comparison failed"));
    }
  }

  async compare(): Promise<void> {
    const { selfId, ownMarks, others, leaderId, metrics, leads } = this.#parts;
    const answers = await others();
    const comparison = compareStates([{ id: selfId, marks: ownMarks() }, ...answers], leaderId());
    const at = comparison.compared.get(selfId);
    if (at !== undefined) metrics.stateCompared(at);
    const own = comparison.diverged.get(selfId);
    if (own !== undefined) await this.#diverged(own);
    else if (leads()) await this.#report(answers, comparison);
  }

  async #diverged(own: Divergence): Promise<void> {
    const { metrics, logger, giveUpLead } = this.#parts;
    if (this.#found !== null) return;
    this.#found = own;
    metrics.stateDiverged(true);
    logger.error(own, "the state of this server differs from that of the other servers: it serves no more calls");
    await giveUpLead();
  }

  async #report(answers: readonly ComparedServer[], { compared, diverged }: Comparison): Promise<void> {
    const { view, propose, isMember } = this.#parts;
    for (const { id, diverged: known } of answers) {
      const notice = noticeOf(id, diverged.get(id) ?? null);
      if ((known || diverged.has(id)) && !isRaised(view().notice(notice.key)))
        await propose({ kind: "notice.raise", notice });
    }
    for (const notice of [...view().notices()]) {
      if (notice.kind !== "state_diverged" || !isRaised(notice)) continue;
      const id = notice.key.slice(notice.key.indexOf("/") + 1);
      const answer = answers.find((one) => one.id === id);
      const agrees = answer?.diverged === false && compared.has(id) && !diverged.has(id);
      if (agrees || !isMember(id)) await propose({ kind: "notice.clear", key: notice.key });
    }
  }
}

const isRaised = (notice: Pick<Notice, "clearedAt"> | undefined): boolean =>
  notice !== undefined && notice.clearedAt === undefined;

const noticeOf = (id: string, found: Divergence | null) =>
  ({
    key: noticeKey("state_diverged", id),
    kind: "state_diverged",
    text: `The state of ${id} differs from that of the other servers${found === null ? "" : ` at entry ${found.index}`}; it serves no calls. Restart it.`,
    tenant: null,
    user: null,
  }) as const;
