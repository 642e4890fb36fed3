// One node as the servers see it: orders come in by the link, become events of the lifecycle, and
// the effects that come out are carried out one after the other, attempt by attempt. The work of one
// attempt does not wait for that of another, and an effect that fails does not stop those after it.
// Nothing is decided here.

import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { systemAfter, within } from "./after.ts";
import { chains } from "./chains.ts";
import { savingOf } from "./checkpoint/node-parts.ts";
import type { Attempt, Effect, Event, LiveAttempt } from "./lifecycle/attempt.ts";
import { countByKind, isLive, walltimeLeftMs } from "./lifecycle/attempt.ts";
import { byArrival, recover } from "./lifecycle/recover.ts";
import { type Step, step } from "./lifecycle/step.ts";
import { mustWait, nextTurns } from "./lifecycle/turns.ts";
import { type Link, openLink } from "./link/link.ts";
import { heldIn, reportMessage } from "./link/messages.ts";
import { type ReportBody, reportBuffer } from "./link/reports.ts";
import { logStreams } from "./logs/log-streams.ts";
import { keepMarks } from "./logs/marks.ts";
import { logFigures } from "./logs/ship/shipper.ts";
import type { Node } from "./node-handle.ts";
import type { NodeOptions } from "./node-options.ts";
import { isRecord, owed } from "./owed.ts";
import { askProbe } from "./probes/probe.ts";
import { probes } from "./probes/probes.ts";
import { takeOrders } from "./take-orders.ts";
import { launches } from "./tasks/launches.ts";
import { roomOf } from "./tasks/room.ts";
import { measureAttempts } from "./telemetry/measure-attempts.ts";
import { type Terminals, terminals } from "./terminal/terminals.ts";
import { attemptTimers } from "./timers.ts";

/** A workload or a group that cannot be cleared away must not keep the node from coming back. */
const RECOVERY_WAIT_MS = 1_000;
/** Nor may work that hangs keep the agent from going. */
const CLOSE_WAIT_MS = 1_000;

export async function startNode(options: NodeOptions): Promise<Node> {
  const { log, now, shipper, tally, after = systemAfter } = options;
  const attempts = new Map<string, Attempt>();
  /** Those of them that are not over, in the order they arrived. */
  const live = new Map<string, LiveAttempt>();
  const work = chains((key, error) => log.error({ attempt: key, error: error.message }, "its work failed"));
  const unwritten = owed((key) => work.add(key, () => carryOut(key, unwritten.pending(key))), after);
  const reports = reportBuffer();
  const timers = attemptTimers(now, (key, name) => on(key, { kind: "timer", name }), after);
  const streams = logStreams();
  const waiters = new Set<() => void>();
  let lastArrivalMs = 0;
  /** Nothing begins before the leftovers that belong to no attempt are gone. */
  let swept = false;
  let closed = false;
  let link: Link | null = null;

  const runtime = await options.runtime({
    exited: (key, exit, atMs) => {
      screens.end(key, "the allocation has ended");
      marks?.ended(key);
      liveness.stop(key);
      figures.stop(key);
      saving.end(key);
      tasks?.ended(key);
      on(key, { kind: "exited", exit, atMs });
    },
    dropped(key) {
      attempts.delete(key);
      shipper?.removed(key);
    },
  });
  const screens: Terminals = terminals({
    nodeId: options.identity.nodeId,
    firstProcess: async (key) => (attempts.get(key)?.kind === "running" ? runtime.firstProcess(key) : null),
    walltimeLeftMs: (key) => walltimeLeftMs(attempts.get(key), now()),
  });
  const saving = savingOf({
    ...{ log, after, now, nodeId: options.identity.nodeId, folder: options.checkpointDir ?? "" },
    target: runtime.checkpoints,
    tell: (value) => link?.send({ case: "checkpointProgress", value }),
    notice: (key, text) => screens.notice(key, text),
    over(key, checkpoint) {
      const attempt = attempts.get(key);
      // One that is being stopped says it with its end, which is near.
      if (attempt?.kind === "running") report(key, { kind: "running", atMs: attempt.startedAtMs, checkpoint });
    },
  });
  const liveness = probes({
    log,
    after,
    ask: options.probe ?? (async (probe, key) => askProbe(probe, (await runtime.firstProcess(key))?.pid ?? null)),
    failed: (key, message) => {
      log.error({ attempt: key, message }, "ending an attempt that does not answer");
      screens.notice(key, `The allocation is being stopped: ${message}.`);
      on(key, { kind: "unhealthy", message });
    },
  });
  const figures = measureAttempts({
    ...{ log, now, after, runtime, link: () => link, well: () => liveness.well() },
    ...(options.gpus === undefined ? {} : { gpus: options.gpus }),
  });
  const logFile = (key: string, stream: "stdout" | "stderr") => runtime.logFile(key, stream);
  const marks = options.keepTimes === true ? keepMarks({ live: () => live.keys(), logFile, now }) : null;
  await shipper?.recover({ logFile, live: (key) => live.has(key) });
  const tasks =
    options.facilities === undefined
      ? null
      : launches({
          nodeId: options.identity.nodeId,
          log,
          facilities: options.facilities,
          peers: options.peers ?? null,
          room: (key) => roomOf(runtime, key),
          members: async (key) => (await runtime.members?.(key)) ?? [],
          running: (key) => attempts.get(key)?.kind === "running",
        });
  const logSources = { streams, logFile, kept: shipper, live: (key: string) => live.has(key) };
  const orders = takeOrders({
    ...{ log, reports, saving, screens, liveness, figures, tasks, tally, logSources, on },
    clear: options.clear,
    images: options,
    running: (key) => attempts.get(key)?.kind === "running",
    arrivedAtMs: () => (lastArrivalMs = Math.max(now(), lastArrivalMs + 1)),
    mustWait: (exclusive) => !swept || mustWait(live, exclusive),
    send: (message) => link?.send(message),
  });
  await recoverAll();
  shipper?.begin();
  const opened = openLink({
    ...options,
    hello: () => create(pb.HelloSchema, { ...options.identity, ...options.renewed?.(), attempts: heldIn(attempts) }),
    heartbeat: (sequence) => ({
      echo: tally?.beat(sequence, now()) ?? false,
      running: live.size,
      logBytesWaiting: shipper?.waitingBytes() ?? 0,
      logBytesDropped: shipper?.droppedBytes() ?? 0,
      measures: figures.messages(),
      checkpointStorageError: saving.storageError(),
      ...options.vitals(),
    }),
    welcomed(client, welcome) {
      options.welcomed?.(welcome);
      figures.reset();
      resend(opened);
      tasks?.connected(client);
    },
    order: orders,
  });
  link = opened;

  async function recoverAll(): Promise<void> {
    const found = await runtime.recover();
    // All are known before anything is waited for: the first Hello must list every one of them.
    for (const [key, facts] of byArrival(found)) {
      lastArrivalMs = Math.max(lastArrivalMs, facts.order?.arrivedAtMs ?? 0);
      const first = recover(facts, now());
      if (facts.order !== null) shipper?.add(key, facts.order);
      if (facts.order !== null) saving.add(key, facts.order);
      if (first.attempt === null) work.add(key, () => runtime.discard(key));
      if (facts.alive && (first.attempt?.kind === "running" || first.attempt?.kind === "stopping")) runtime.adopt(key);
      if (facts.alive && first.attempt?.kind === "running") void tasks?.recover(key);
      if (first.attempt?.kind === "running" && facts.order?.probe) liveness.start(key, facts.order.probe);
      if (first.attempt?.kind === "running") figures.start(key, facts.order);
      log.info({ attempt: key, state: first.attempt?.kind ?? "discarded" }, "found an attempt of an earlier life");
      take(key, first);
    }
    // Mostly done at once, and then the first Hello already tells which attempts have ended.
    await within(after, RECOVERY_WAIT_MS, Promise.all([sweep(new Set(found.keys())), work.settled()]));
  }

  async function sweep(known: ReadonlySet<string>): Promise<void> {
    await runtime
      .sweep(known)
      .catch((error: Error) => log.error({ error: error.message }, "leftovers of an earlier life could not be ended"));
    swept = true;
    giveTurns();
  }

  function on(key: string, event: Event): void {
    if (closed) return;
    // Its effects wait for the start to end, and the start may be waiting for an image.
    if (event.kind === "stop" || event.kind === "forget") runtime.interrupt(key);
    take(key, step(attempts.get(key) ?? null, event, now()));
  }

  function take(key: string, { attempt, effects }: Step): void {
    if (attempt?.kind === "ended" && live.has(key)) tally?.ended(attempt.end);
    if (attempt === null) attempts.delete(key);
    else attempts.set(key, attempt);
    if (attempt !== null && isLive(attempt)) live.set(key, attempt);
    else live.delete(key);
    if (effects.length > 0) work.add(key, () => carryOut(key, effects));
    giveTurns();
    if (live.size === 0) for (const wake of waiters) wake();
  }

  function giveTurns(): void {
    if (swept) for (const key of nextTurns(live)) on(key, { kind: "turn" });
  }

  async function carryOut(key: string, effects: readonly Effect[]): Promise<void> {
    for (const effect of effects) {
      if (closed) return;
      await perform(key, effect).catch((error: Error) => failed(key, effect, error));
    }
  }

  function failed(key: string, effect: Effect, error: Error): void {
    const facts = { attempt: key, effect: effect.kind, error: error.message };
    if (!isRecord(effect)) {
      log.error(facts, "an effect failed");
      return;
    }
    const known = unwritten.add(key, effect);
    log[known ? "debug" : "error"](facts, "cannot write to disk; going on without, and trying again");
  }

  async function perform(key: string, effect: Effect): Promise<void> {
    switch (effect.kind) {
      case "start": {
        shipper?.add(key, effect.order);
        saving.add(key, effect.order);
        const result = await runtime.start(key, effect.order).catch((error: Error) => ({
          kind: "not_launched" as const,
          message: `cannot start: ${error.message}`,
        }));
        if (result.kind === "started") {
          if (effect.order.probe !== null) liveness.start(key, effect.order.probe);
          figures.start(key, effect.order);
          tally?.started(result.atMs - effect.order.arrivedAtMs);
          return on(key, { kind: "started", atMs: result.atMs });
        }
        log.warn({ attempt: key, message: result.message }, "not launched");
        return on(key, { kind: "exited", exit: result, atMs: now() });
      }
      case "report_running":
        return report(key, { kind: "running", atMs: effect.atMs });
      case "report_end":
        return report(key, { kind: "end", end: effect.end, checkpoint: await saving.word(key) });
      case "remember_order":
        await runtime.rememberOrder(key, effect.order);
        return unwritten.written(key, effect.kind);
      case "remember_stop":
        await runtime.rememberStop(key, effect.stop);
        return unwritten.written(key, effect.kind);
      case "remember_end":
        await runtime.rememberEnd(key, effect.end);
        return unwritten.written(key, effect.kind);
      case "terminate":
        return runtime.terminate(key);
      case "kill":
        return runtime.kill(key);
      case "clear":
        await runtime.clear(key);
        return on(key, { kind: "cleared" });
      case "archive":
        unwritten.drop(key);
        saving.drop(key);
        await shipper?.keep(key);
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

  return {
    connected: () => opened.connected(),
    hellos: () => opened.hellos(),
    live: () => live.size,
    figures: () => ({
      attempts: countByKind(attempts.values()),
      terminals: screens.count,
      logStreams: streams.count,
      reportsWaiting: reports.pending().length,
      log: shipper === undefined ? null : logFigures(shipper),
    }),
    tell: (value) => link?.send({ case: "condition", value }),
    async stopAll(reason, graceMs, deadlineMs) {
      // The last first: what waits must not begin because the one before it is gone.
      for (const key of [...live.keys()].reverse()) on(key, { kind: "stop", graceMs, reason });
      const none = new Promise<void>((resolve) => {
        if (live.size === 0) resolve();
        else waiters.add(resolve);
      });
      await within(after, deadlineMs, none.then(work.settled));
    },
    async close() {
      closed = true;
      unwritten.close();
      streams.closeAll();
      marks?.close();
      liveness.close();
      figures.close();
      saving.close();
      await within(after, CLOSE_WAIT_MS, Promise.all([screens.closeAll(), shipper?.close()]));
      tasks?.close();
      timers.close();
      opened.close();
      await runtime.close();
      await within(after, CLOSE_WAIT_MS, work.settled());
    },
  };
}
