// One node as the servers see it: orders come in by the link, become events of the lifecycle, and
// the effects that come out are carried out one after the other, attempt by attempt. Attempts do
// not wait for each other. Nothing is decided here.

import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { Client } from "@grpc/grpc-js";
import { parseAllocationId } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { type Attempt, attemptKey, type Effect, type Event, isLive } from "./lifecycle/attempt.ts";
import { recover } from "./lifecycle/recover.ts";
import { type Step, step } from "./lifecycle/step.ts";
import type { Dialer } from "./link/dial.ts";
import { type Link, openLink } from "./link/link.ts";
import { attemptStatus, type Identity, orderOf, reportMessage } from "./link/messages.ts";
import { type ReportBody, reportBuffer } from "./link/reports.ts";
import type { Wheel } from "./link/wheel.ts";
import { logStreams } from "./logs/log-streams.ts";
import type { Runtime, RuntimeListener } from "./runtime/runtime.ts";
import { attemptTimers } from "./timers.ts";

export interface NodeOptions {
  /** All of Hello but the attempts. */
  readonly identity: Identity;
  readonly dialer: Dialer;
  readonly member: number;
  readonly wheel: Wheel;
  readonly random: () => number;
  readonly now: () => number;
  readonly log: Logger;
  readonly vitals: () => { load1: number; memoryAvailableGb: number };
  readonly runtime: (listener: RuntimeListener) => Promise<Runtime>;
}

export interface Node {
  connected(): boolean;
  /** Attempts that are not over yet. */
  live(): number;
  /** Ends every workload; resolves when none is left or the time is up. */
  stopAll(reason: string, graceMs: number, deadlineMs: number): Promise<void>;
  /** Lets go of the link and of the runtime; workloads go on. */
  close(): Promise<void>;
}

/** A workload that cannot be cleared away must not keep the node from coming back. */
const RECOVERY_WAIT_MS = 1_000;

export async function startNode(options: NodeOptions): Promise<Node> {
  const { log, now } = options;
  const attempts = new Map<string, Attempt>();
  const chains = new Map<string, Promise<void>>();
  const reports = reportBuffer();
  const timers = attemptTimers(now, (key, name) => on(key, { kind: "timer", name }));
  const streams = logStreams();
  const waiters = new Set<() => void>();
  let liveCount = 0;
  let closed = false;
  let link: Link | null = null;

  const runtime = await options.runtime({
    exited: (key, exit, atMs) => on(key, { kind: "exited", exit, atMs }),
    dropped: (key) => attempts.delete(key),
  });
  await recoverAll();
  const opened = openLink({
    ...options,
    hello: () => create(pb.HelloSchema, { ...options.identity, attempts: held() }),
    heartbeat: () => ({ running: liveCount, ...options.vitals() }),
    welcomed: () => resend(opened),
    order: (message, client) => onOrder(message, client),
  });
  link = opened;

  async function recoverAll(): Promise<void> {
    const found = await runtime.recover();
    await runtime.sweep(new Set(found.keys()));
    for (const [key, facts] of found) {
      const first = recover(facts, now());
      if (first.attempt === null) await runtime.discard(key);
      if (facts.alive && (first.attempt?.kind === "running" || first.attempt?.kind === "stopping")) runtime.adopt(key);
      log.info({ attempt: key, state: first.attempt?.kind ?? "discarded" }, "found an attempt of an earlier life");
      take(key, first);
    }
    if (chains.size === 0) return;
    // Mostly done at once, and then the first Hello already tells which attempts have ended.
    await Promise.race([Promise.allSettled(chains.values()), delay(RECOVERY_WAIT_MS)]);
  }

  function onOrder(message: pb.ServerMessage["message"], client: Client): void {
    switch (message.case) {
      case "run": {
        const order = orderOf(message.value);
        withKey(order, (key) => on(key, { kind: "run", order }));
        break;
      }
      case "stop": {
        const { graceSeconds, reason } = message.value;
        // 0 is "not said": then what the run order said holds.
        const graceMs = graceSeconds > 0 ? graceSeconds * 1000 : null;
        withKey(message.value, (key) => on(key, { kind: "stop", graceMs, reason }));
        break;
      }
      case "forget":
        withKey(message.value, (key) => {
          reports.forget(key);
          on(key, { kind: "forget" });
        });
        break;
      case "ack": {
        const key = reports.acknowledge(message.value.number);
        if (key !== null) on(key, { kind: "acknowledged" });
        break;
      }
      case "openLogs":
        void openLogs(message.value, client);
        break;
      case "closeLogs":
        streams.close(message.value.streamId);
        break;
      default:
        log.warn({ message: message.case ?? "none" }, "a message this agent does not know");
    }
  }

  /** Keys become folder names: what is no id goes no further. */
  function withKey(of: { allocationId: string; attempt: number }, act: (key: string) => void): void {
    if (parseAllocationId(of.allocationId) === null) {
      log.error({ allocation: of.allocationId.slice(0, 64) }, "an order with a malformed allocation id is ignored");
      return;
    }
    act(attemptKey(of.allocationId, of.attempt));
  }

  function on(key: string, event: Event): void {
    if (!closed) take(key, step(attempts.get(key) ?? null, event, now()));
  }

  function take(key: string, { attempt, effects }: Step): void {
    const before = attempts.get(key);
    liveCount += Number(attempt !== null && isLive(attempt)) - Number(before !== undefined && isLive(before));
    if (attempt === null) attempts.delete(key);
    else attempts.set(key, attempt);
    if (effects.length > 0) chain(key, effects);
    if (liveCount === 0) for (const wake of waiters) wake();
  }

  function chain(key: string, effects: readonly Effect[]): void {
    const next = (chains.get(key) ?? Promise.resolve()).then(async () => {
      for (const effect of effects) if (!closed) await perform(key, effect);
    });
    chains.set(key, next);
    void next
      .catch((error: Error) => log.error({ attempt: key, error: error.message }, "an effect failed"))
      .finally(() => {
        if (chains.get(key) === next) chains.delete(key);
      });
  }

  async function perform(key: string, effect: Effect): Promise<void> {
    switch (effect.kind) {
      case "start": {
        const result = await runtime.start(key, effect.order).catch((error: Error) => ({
          kind: "not_launched" as const,
          message: `cannot start: ${error.message}`,
        }));
        if (result.kind === "started") return on(key, { kind: "started", atMs: result.atMs });
        log.warn({ attempt: key, message: result.message }, "not launched");
        return on(key, { kind: "exited", exit: result, atMs: now() });
      }
      case "report_running":
        return report(key, { kind: "running", atMs: effect.atMs });
      case "report_end":
        return report(key, { kind: "end", end: effect.end });
      case "remember_order":
        return runtime.rememberOrder(key, effect.order);
      case "remember_stop":
        return runtime.rememberStop(key, effect.stop);
      case "remember_end":
        return runtime.rememberEnd(key, effect.end);
      case "terminate":
        return runtime.terminate(key);
      case "kill":
        return runtime.kill(key);
      case "clear":
        await runtime.clear(key);
        return on(key, { kind: "cleared" });
      case "archive":
        return runtime.archive(key);
      case "arm":
        return timers.arm(key, effect.timer, effect.atMs);
      case "disarm":
        return timers.disarm(key);
    }
  }

  function report(key: string, body: ReportBody): void {
    const [allocationId = "", attempt] = key.split(".");
    const pending = reports.add(key, { allocationId, attempt: Number(attempt), body });
    if (link?.connected() === true) link.send({ case: "report", value: reportMessage(pending) });
  }

  function resend(to: Link): void {
    for (const pending of reports.pending()) to.send({ case: "report", value: reportMessage(pending) });
  }

  function held(): pb.AttemptStatus[] {
    const all: pb.AttemptStatus[] = [];
    for (const [key, attempt] of attempts) if (attempt.kind !== "archived") all.push(attemptStatus(key, attempt));
    return all;
  }

  async function openLogs(order: pb.OpenLogs, client: Client): Promise<void> {
    const key = attemptKey(order.allocationId, order.attempt);
    const known = parseAllocationId(order.allocationId) !== null;
    const stream = order.stream === pb.LogStream.STDERR ? "stderr" : "stdout";
    const path = known ? await runtime.logFile(key, stream) : null;
    const live = (): boolean => {
      const attempt = attempts.get(key);
      return attempt !== undefined && isLive(attempt);
    };
    streams.open(client, { streamId: order.streamId, tail: order.tail, follow: order.follow, path, live });
  }

  return {
    connected: () => opened.connected(),
    live: () => liveCount,
    async stopAll(reason, graceMs, deadlineMs) {
      for (const [key, attempt] of attempts) if (isLive(attempt)) on(key, { kind: "stop", graceMs, reason });
      if (liveCount === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadlineMs);
        waiters.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      await Promise.all(chains.values());
    },
    async close() {
      closed = true;
      streams.closeAll();
      timers.close();
      opened.close();
      await runtime.close();
      await Promise.allSettled(chains.values());
    },
  };
}
