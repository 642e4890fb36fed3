// One node as the servers see it. Orders arrive over the link and become events of the lifecycle; the effects are
// performed one after the other for each attempt. Attempts do not wait for each other, and an effect that fails does not
// stop the ones after it. The lifecycle makes every decision.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { type After, systemAfter, within } from "../base/after.ts";
import type {
  AttemptEffect,
  AttemptEvent,
  AttemptState,
  End,
  LiveAttempt,
  ReceivedOrder,
} from "../lifecycle/attempt.ts";
import { countByKind, isLive } from "../lifecycle/attempt.ts";
import { byArrival, recover } from "../lifecycle/recover.ts";
import { type AttemptStep, step } from "../lifecycle/step.ts";
import { mustWait, nextTurns } from "../lifecycle/turns.ts";
import { type Link, openLink } from "../link/link.ts";
import { attemptStatuses, reportMessage } from "../link/messages.ts";
import { type PendingReport, type ReportBody, reportBuffer } from "../link/reports.ts";
import { logStreams } from "../logs/log-streams.ts";
import { logCounts } from "../logs/ship/shipper.ts";
import type { NodeCounts } from "../metrics/node-counts.ts";
import type { Runtime } from "../runtime/base/runtime.ts";
import { type HeldReports, heldReports } from "./held-reports.ts";
import type { AgentNode } from "./node-handle.ts";
import type { NodeOptions } from "./node-options.ts";
import { type NodeParts, openNodeParts } from "./node-parts.ts";
import { isRecord, type PendingWrites, pendingWrites } from "./pending-writes.ts";
import { type PerAttemptQueue, perAttemptQueue } from "./per-attempt-queue.ts";
import { type TakeOrder, takeOrders } from "./take-orders.ts";
import { type AttemptTimers, attemptTimers } from "./timers.ts";

/** A workload or a group that cannot be cleared must not keep the node from coming back. */
const RECOVERY_WAIT_MS = 1_000;
/** Work that hangs must not keep the agent from ending. */
const CLOSE_WAIT_MS = 1_000;

export async function startNode(options: NodeOptions): Promise<AgentNode> {
  const node = new RunningNode(options);
  await node.start();
  return node;
}

class RunningNode implements AgentNode {
  readonly #options: NodeOptions;
  readonly #after: After;
  readonly #attempts = new Map<string, AttemptState>();
  /** Attempts that are not over, in the order of their arrival. */
  readonly #live = new Map<string, LiveAttempt>();
  readonly #work: PerAttemptQueue;
  readonly #unwritten: PendingWrites;
  readonly #reports = reportBuffer();
  readonly #timers: AttemptTimers;
  readonly #held: HeldReports;
  readonly #streams = logStreams();
  readonly #waiters = new Set<() => void>();
  #parts: NodeParts | null = null;
  #link: Link | null = null;
  #lastArrivalMs = 0;
  /** Nothing starts before the leftovers that belong to no attempt are gone. */
  #swept = false;
  #closed = false;

  constructor(options: NodeOptions) {
    const { log, now } = options;
    this.#options = options;
    this.#after = options.after ?? systemAfter;
    this.#work = perAttemptQueue((key, error) =>
      log.error({ attempt: key, error: error.message }, "the work for an attempt failed"),
    );
    this.#unwritten = pendingWrites(
      (key) => this.#work.add(key, () => this.#performAll(key, this.#unwritten.pending(key))),
      this.#after,
    );
    this.#held = heldReports(this.#after);
    this.#timers = attemptTimers(now, (key, name) => this.#on(key, { kind: "timer", name }), this.#after);
  }

  async start(): Promise<void> {
    const options = this.#options;
    const parts = openNodeParts(await this.#openRuntime(), options, {
      after: this.#after,
      attempts: this.#attempts,
      live: this.#live,
      link: () => this.#link,
      on: (key, event) => this.#on(key, event),
      report: (key, body) => this.#send(this.#add(key, body)),
    });
    this.#parts = parts;
    const { shipper, tally, now } = options;
    await shipper?.recover({ logFile: parts.logFile, live: (key) => this.#live.has(key) });
    await this.#recover();
    shipper?.begin();
    this.#link = openLink({
      ...options,
      hello: () =>
        create(pb.HelloSchema, {
          ...options.identity,
          ...options.renewed?.(),
          attempts: attemptStatuses(this.#attempts),
        }),
      heartbeat: (sequence) => ({
        echo: tally?.beat(sequence, now()) ?? false,
        running: this.#live.size,
        logBytesWaiting: shipper?.waitingBytes() ?? 0,
        logBytesDropped: shipper?.droppedBytes() ?? 0,
        measures: parts.usage.messages(),
        checkpointStorageError: parts.checkpoints.storageError(),
        ...options.vitals(),
      }),
      welcomed: (client, welcome) => {
        options.welcomed?.(welcome);
        parts.usage.reset();
        for (const pending of this.#reports.pending())
          this.#link?.send({ case: "report", value: reportMessage(pending, this.#options.now()) });
        parts.tasks?.connected(client);
      },
      refused: (code) => tally?.refused(code),
      order: this.#orderHandler(parts),
    });
  }

  connected(): boolean {
    return this.#link?.connected() === true;
  }

  hellos(): number {
    return this.#link?.hellos() ?? 0;
  }

  live(): number {
    return this.#live.size;
  }

  counts(): NodeCounts {
    const { shipper } = this.#options;
    return {
      attempts: countByKind(this.#attempts.values()),
      terminals: this.#parts?.terminals.count ?? 0,
      logStreams: this.#streams.count,
      reportsWaiting: this.#reports.pending().length,
      log: shipper === undefined ? null : logCounts(shipper),
    };
  }

  sendCondition(value: pb.ConditionReport): void {
    this.#link?.send({ case: "condition", value });
  }

  async stopAll(reason: string, graceMs: number, deadlineMs: number): Promise<void> {
    // Newest first: a waiting attempt must not start because an earlier one has ended.
    for (const key of [...this.#live.keys()].reverse()) this.#on(key, { kind: "stop", graceMs, reason });
    const none = new Promise<void>((resolve) => {
      if (this.#live.size === 0) resolve();
      else this.#waiters.add(resolve);
    });
    await within(
      this.#after,
      deadlineMs,
      none.then(() => this.#work.settled()),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unwritten.close();
    this.#streams.closeAll();
    const parts = this.#parts;
    parts?.outputTimes?.close();
    parts?.liveness.close();
    parts?.usage.close();
    parts?.checkpoints.close();
    const closing = [Promise.resolve(parts?.terminals.closeAll()), Promise.resolve(this.#options.shipper?.close())];
    await within(this.#after, CLOSE_WAIT_MS, Promise.all(closing));
    parts?.tasks?.close();
    this.#timers.close();
    this.#held.close();
    this.#link?.close();
    await parts?.runtime.close();
    await within(this.#after, CLOSE_WAIT_MS, this.#work.settled());
  }

  #openRuntime(): Promise<Runtime> {
    return this.#options.runtime({
      exited: (key, exit, atMs) => {
        const parts = this.#parts;
        parts?.terminals.end(key, "the allocation has ended");
        parts?.outputTimes?.ended(key);
        parts?.liveness.stop(key);
        parts?.usage.stop(key);
        parts?.checkpoints.end(key);
        parts?.tasks?.ended(key);
        this.#on(key, { kind: "exited", exit, atMs });
      },
      dropped: (key) => {
        this.#attempts.delete(key);
        this.#options.shipper?.removed(key);
      },
    });
  }

  #orderHandler(parts: NodeParts): TakeOrder {
    const { log, tally, clear, networkPeers, shipper, now } = this.#options;
    return takeOrders({
      log,
      tally,
      clear,
      networkPeers,
      reports: this.#reports,
      images: this.#options,
      ...parts,
      logSources: {
        streams: this.#streams,
        logFile: parts.logFile,
        kept: shipper,
        live: (key) => this.#live.has(key),
        userOf: parts.userOf,
      },
      on: (key, event) => this.#on(key, event),
      running: (key) => this.#isRunning(key),
      arrivedAtMs: () => (this.#lastArrivalMs = Math.max(now(), this.#lastArrivalMs + 1)),
      mustWait: (exclusive) => !this.#swept || mustWait(this.#live, exclusive),
      send: (message) => this.#link?.send(message),
    });
  }

  #open(): NodeParts {
    if (this.#parts === null) throw new Error("the node has not started");
    return this.#parts;
  }

  #isRunning(key: string): boolean {
    return this.#attempts.get(key)?.kind === "running";
  }

  async #recover(): Promise<void> {
    const { runtime, checkpoints, liveness, usage, tasks } = this.#open();
    const { shipper, log, now } = this.#options;
    const found = await runtime.recover();
    // All attempts are known before anything is awaited: the first Hello must list every one of them.
    for (const [key, facts] of byArrival(found)) {
      const { order, alive } = facts;
      this.#lastArrivalMs = Math.max(this.#lastArrivalMs, facts.arrivedAtMs);
      if (facts.claimed) this.#held.recovered(key, facts.claimedAtMs);
      const first = recover(facts, now());
      const kind = first.attempt?.kind ?? "discarded";
      if (order !== null) shipper?.add(key, order);
      if (order !== null) checkpoints.add(key, order);
      if (first.attempt === null) this.#work.add(key, () => runtime.discard(key));
      if (alive && (kind === "running" || kind === "stopping")) runtime.adopt(key);
      if (alive && kind === "running") void tasks?.recover(key);
      if (kind === "running" && order?.livenessProbe) liveness.start(key, order.livenessProbe);
      if (kind === "running") usage.start(key, order, true);
      log.info({ attempt: key, state: kind }, "recovered an attempt of an earlier agent");
      this.#take(key, first);
    }
    // Usually immediate, so that the first Hello lists ended attempts.
    const settled = Promise.all([this.#sweep(runtime, new Set(found.keys())), this.#work.settled()]);
    await within(this.#after, RECOVERY_WAIT_MS, settled);
  }

  async #sweep(runtime: Runtime, known: ReadonlySet<string>): Promise<void> {
    const { log } = this.#options;
    await runtime
      .sweep(known)
      .catch((error: Error) => log.error({ error: error.message }, "leftovers of an earlier agent cannot be removed"));
    this.#swept = true;
    this.#giveTurns();
  }

  #on(key: string, event: AttemptEvent): void {
    if (this.#closed) return;
    // The effects of a stop wait for the start to end, and the start may be waiting for an image.
    if (event.kind === "stop" || event.kind === "forget") this.#parts?.runtime.interrupt(key);
    this.#take(key, step(this.#attempts.get(key) ?? null, event, this.#options.now()));
  }

  #take(key: string, { attempt, effects }: AttemptStep): void {
    if (attempt?.kind === "ended" && this.#live.has(key)) this.#options.tally?.ended(attempt.end);
    if (attempt === null) this.#attempts.delete(key);
    else this.#attempts.set(key, attempt);
    if (attempt !== null && isLive(attempt)) this.#live.set(key, attempt);
    else this.#live.delete(key);
    if (effects.length > 0) this.#work.add(key, () => this.#performAll(key, effects));
    this.#giveTurns();
    if (this.#live.size === 0) for (const wake of this.#waiters) wake();
  }

  #giveTurns(): void {
    if (this.#swept) for (const key of nextTurns(this.#live)) this.#on(key, { kind: "turn" });
  }

  async #performAll(key: string, effects: readonly AttemptEffect[]): Promise<void> {
    for (const effect of effects) {
      if (this.#closed) return;
      await this.#perform(key, effect).catch((error: Error) => this.#onEffectFailed(key, effect, error));
    }
  }

  #onEffectFailed(key: string, effect: AttemptEffect, error: Error): void {
    const { log } = this.#options;
    const facts = { attempt: key, effect: effect.kind, error: error.message };
    if (!isRecord(effect)) {
      log.error(facts, "lifecycle effect failed");
      return;
    }
    const known = this.#unwritten.add(key, effect);
    log[known ? "debug" : "error"](facts, "the record of an attempt cannot be written; retrying");
  }

  async #perform(key: string, effect: AttemptEffect): Promise<void> {
    const { runtime, checkpoints, usage } = this.#open();
    switch (effect.kind) {
      case "start":
        return this.#startAttempt(key, effect.received);
      case "report_running":
        return this.#reportStart(key, effect.atMs);
      case "report_end":
        return this.#reportEnd(key, effect.end);
      case "remember_order":
        await runtime.rememberOrder(key, effect.received);
        return this.#unwritten.written(key, effect.kind);
      case "remember_stop":
        await runtime.rememberStop(key, effect.stop);
        return this.#unwritten.written(key, effect.kind);
      case "remember_end":
        await runtime.rememberEnd(key, effect.end);
        return this.#unwritten.written(key, effect.kind);
      case "terminate":
        return runtime.terminate(key);
      case "kill":
        return runtime.kill(key);
      case "clear":
        // The control groups know the usage until they are removed.
        await usage.finish(key);
        await runtime.clear(key);
        return this.#on(key, { kind: "cleared" });
      case "archive":
        this.#unwritten.drop(key);
        this.#held.drop(key);
        checkpoints.drop(key);
        await this.#options.shipper?.keep(key);
        return runtime.archive(key);
      case "arm":
        return this.#timers.arm(key, effect.timer, effect.atMs);
      case "disarm":
        return this.#timers.disarm(key);
    }
  }

  async #startAttempt(key: string, received: ReceivedOrder): Promise<void> {
    const { runtime, checkpoints, liveness, usage } = this.#open();
    const { shipper, tally, log, now } = this.#options;
    const { order, arrivedAtMs } = received;
    shipper?.add(key, order);
    checkpoints.add(key, order);
    const result = await runtime.start(key, received).catch((error: Error) => ({
      kind: "not_launched" as const,
      message: `cannot start: ${error.message}`,
    }));
    if (result.kind === "started") {
      if (order.livenessProbe !== undefined) liveness.start(key, order.livenessProbe);
      usage.start(key, order);
      tally?.started(result.atMs - arrivedAtMs);
      return this.#on(key, { kind: "started", atMs: result.atMs });
    }
    log.warn({ attempt: key, reason: result.message }, "attempt not launched");
    this.#on(key, { kind: "exited", exit: result, atMs: now() });
  }

  async #reportEnd(key: string, end: End): Promise<void> {
    const { runtime, checkpoints } = this.#open();
    const used = (await runtime.used?.(key).catch(() => null)) ?? null;
    const started = this.#held.ended(key);
    const checkpoint = await checkpoints.lastResult(key);
    const pending = this.#add(key, { kind: "end", end, checkpoint, used, ...started });
    const waits = [...this.#live.values()].some(({ kind }) => kind === "waiting");
    this.#held.sendEnd(waits, () => this.#send(pending));
  }

  #reportStart(key: string, atMs: number): void {
    const pending = this.#add(key, { kind: "running", atMs });
    if (!this.#held.hold(key, atMs, () => this.#send(pending))) this.#send(pending);
  }

  #add(key: string, body: ReportBody): PendingReport {
    const [allocationId = "", attempt] = key.split(".");
    return this.#reports.add(key, { allocationId, attempt: Number(attempt), body });
  }

  #send(pending: PendingReport): void {
    if (this.connected()) this.#link?.send({ case: "report", value: reportMessage(pending, this.#options.now()) });
  }
}
