// The planners of one term: one at a time, the next on a fresh copy of the state soon after the one before has ended.

import { duration, type VClusterId } from "@lattice/core";
import type { Logger } from "pino";
import { monotonicNow } from "../../base/clock.ts";
import type { SchedulingMetrics } from "../../base/observe/scheduling.ts";
import type { Replica } from "../../state/replica/replica.ts";
import { createMarkComparison } from "./mark-comparison.ts";
import type { FromPlanner } from "./messages.ts";
import type { PublishedCycle } from "./published.ts";
import { PlannerRun, type RunParts } from "./run.ts";

/** The pause before the next planner; doubles with each one that ends soon. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** A planner that has run for this long was healthy. */
const HEALTHY_MS = 60_000;

export interface TermParts extends Omit<RunParts, "replica" | "reservations" | "onMessage" | "onEnd"> {
  readonly replica: Pick<Replica, "view" | "copy" | "onApplied" | "stateMarks">;
  readonly logger: Logger;
  readonly metrics: Pick<SchedulingMetrics, "estimateError" | "plannerEnded">;
  /** The next planner continues with their reservations. */
  readonly cycles: ReadonlyMap<VClusterId, PublishedCycle>;
}

export class PlannerTerm {
  readonly #parts: TermParts;
  readonly #listeners = new Set<() => void>();
  #run: PlannerRun | null = null;
  #isReady = false;
  #isOver = false;
  #failures = 0;
  #cancelRestart: () => void = () => undefined;

  constructor(parts: TermParts) {
    this.#parts = parts;
    this.#start();
  }

  /** Returns the planner, or `null` while one is starting. */
  planner(): PlannerRun | null {
    return this.#isReady ? this.#run : null;
  }

  /** Resolves when a planner is ready, or when the term is over, or at the abort. */
  ready(signal: AbortSignal): Promise<void> {
    if (this.#isReady || this.#isOver || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  close(): void {
    this.#isOver = true;
    this.#cancelRestart();
    this.#run?.end(new Error("the term is over"));
    this.#changed();
  }

  #start(): void {
    const { clock, replica, cycles } = this.#parts;
    const began = monotonicNow(clock);
    const comparison = createMarkComparison(replica.stateMarks);
    const run = new PlannerRun({
      ...this.#parts,
      reservations: new Map([...cycles].map(([id, { reservations }]) => [id, reservations])),
      onMessage: (message) => {
        if (message.kind === "ready") this.#started(began, message.index);
        else this.#receive(message, run, comparison);
      },
      onEnd: (cause) => this.#ended(cause, began, comparison.differs()),
    });
    this.#run = run;
  }

  #started(began: number, index: number): void {
    this.#isReady = true;
    this.#parts.logger.info({ index, ms: monotonicNow(this.#parts.clock) - began }, "planner started");
    this.#changed();
  }

  #receive(message: FromPlanner, run: PlannerRun, comparison: ReturnType<typeof createMarkComparison>): void {
    const { metrics } = this.#parts;
    if (message.kind === "estimate_error") {
      metrics.estimateError(message.vcluster, message.which, message.seconds);
    } else if (message.kind === "marks") {
      const at = comparison.add(message.marks);
      if (at !== null) run.end(new Error(`the state of the planner differs from the replica at entry ${at}`));
    }
  }

  #ended(cause: Error, began: number, differs: boolean): void {
    this.#isReady = false;
    this.#run = null;
    if (this.#isOver) return;
    const { clock, logger, metrics } = this.#parts;
    this.#failures = monotonicNow(clock) - began >= HEALTHY_MS ? 1 : this.#failures + 1;
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    logger.error({ err: cause, pauseMs }, "planner ended: starting another");
    metrics.plannerEnded(differs ? "state_differs" : "failed");
    this.#cancelRestart = clock.after(duration(pauseMs), () => this.#start());
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
