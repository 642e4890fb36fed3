// One launch while it lasts, in the leader's memory: the streams of its nodes on one side, the caller
// on the other. A report is confirmed to its agent when the caller has taken it, so that a slow
// reader slows the tasks and nothing gathers here. A node that goes away may come back for a while;
// then the launch fails, and whatever is left of it is ended.

import { create } from "@bufbuild/protobuf";
import { type Duration, duration } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Clock } from "../clock.ts";
import { type FenceResult, fences } from "./fence.ts";
import type { NodeShare } from "./layout.ts";
import type { NameAnswer } from "./names.ts";
import { abortOf, type Failure, failureOf } from "./outcome.ts";

/** An agent that is started again is back well before this. */
export const RETURN_WITHIN: Duration = duration(20_000);
/** SIGTERM, two seconds, SIGKILL, and the way there and back. */
const END_WITHIN: Duration = duration(15_000);
/** Reports that are confirmed together; agents may have far more on the way. */
const CONFIRM_EVERY_REPORTS = 32;
const CONFIRM_EVERY_BYTES = 64 * 1024;
/** For a node that comes back; it has few questions open at once. */
const MOST_KEPT_ANSWERS = 256;
const MAX_EARLY_INPUT_BYTES = 1024 * 1024;
/** The shell's for a command that was ended from outside. */
const ENDED_EXIT_CODE = 143;
const LOST_EXIT_CODE = 1;

export interface NodeStream {
  send(order: pb.TasksOrder["order"]): void;
  end(): void;
}

export interface Launch {
  readonly id: string;
  /** The events of the launch, to its end. */
  events(signal: AbortSignal): AsyncGenerator<pb.LaunchTasksResponse>;
  /** False: this node has no part in it. */
  attach(node: string, stream: NodeStream): boolean;
  report(node: string, report: pb.TasksReport): void;
  detach(node: string, stream: NodeStream): void;
  /** False: its node is away and too much waits for it already. */
  input(data: Uint8Array, end: boolean): boolean;
  /** Ends its tasks; the events tell when they have ended. */
  fail(failure: Failure): void;
  /** How it came out, once it has. */
  readonly ended: Promise<Failure | null>;
}

interface Member {
  readonly share: NodeShare;
  stream: NodeStream | null;
  /** Number of the newest report. */
  received: number;
  /** Up to here the caller has everything. */
  taken: number;
  confirmed: number;
  unconfirmedBytes: number;
  done: boolean;
  cancelWait: () => void;
  /** Answers about names that it may not have got. */
  named: readonly pb.TasksNamed[];
}

interface Queued {
  readonly event: pb.LaunchTasksResponse["event"];
  readonly member: Member | null;
  readonly number: number;
}

/** Answers a question about published names, perhaps later. */
export type AskNames = (question: pb.TasksNames, answered: (answer: NameAnswer) => void) => void;

export interface LaunchParts {
  readonly shares: readonly NodeShare[];
  readonly clock: Clock;
  readonly askNames: AskNames;
}

export function createLaunch(id: string, { shares, clock, askNames }: LaunchParts): Launch {
  const members = new Map<string, Member>();
  const exchange = fences(shares.length);
  const queue: Queued[] = [];
  let early: pb.TasksInput[] = [];
  let wake: () => void = () => undefined;
  let failure: Failure | null = null;
  let over = false;
  let cancelEnd: () => void = () => undefined;
  let settle: (failure: Failure | null) => void = () => undefined;
  const ended = new Promise<Failure | null>((resolve) => {
    settle = resolve;
  });
  for (const share of shares) {
    const member: Member = {
      share,
      stream: null,
      received: 0,
      taken: 0,
      confirmed: 0,
      unconfirmedBytes: 0,
      done: false,
      cancelWait: () => undefined,
      named: [],
    };
    members.set(share.node, member);
    awaitReturn(member);
  }

  function add(event: Queued["event"], member: Member | null = null, number = 0): void {
    queue.push({ event, member, number });
    wake();
  }

  function awaitReturn(member: Member): void {
    member.cancelWait = clock.after(RETURN_WITHIN, () => {
      lost(member, `node ${member.share.node} did not answer within ${RETURN_WITHIN / 1000} s`);
    });
  }

  function lost(member: Member, reason: string): void {
    if (member.done) return;
    member.done = true;
    fail({ exitCode: LOST_EXIT_CODE, reason });
    finishWhenAllAreDone();
  }

  function fail(what: Failure): void {
    if (failure !== null || over) return;
    failure = what;
    for (const member of members.values()) tellKill(member);
    cancelEnd = clock.after(END_WITHIN, () => {
      for (const member of members.values()) member.done = true;
      finishWhenAllAreDone();
    });
    finishWhenAllAreDone();
  }

  function tellKill(member: Member): void {
    if (failure !== null && !member.done)
      member.stream?.send({ case: "kill", value: create(pb.TasksKillSchema, { reason: failure.reason }) });
  }

  function finishWhenAllAreDone(): void {
    if (over || [...members.values()].some((member) => !member.done)) return;
    over = true;
    cancelEnd();
    const { exitCode, reason } = failure ?? { exitCode: 0, reason: "" };
    add({ case: "end", value: create(pb.LaunchEndSchema, { exitCode, reason }) });
    settle(failure);
  }

  /** Taken by the caller: the agent may forget it. */
  function confirm({ event, member, number }: Queued): void {
    if (member === null) return;
    member.unconfirmedBytes += event.case === "output" ? event.value.data.length : 0;
    member.taken = Math.max(member.taken, number);
    const many = member.taken - member.confirmed >= CONFIRM_EVERY_REPORTS;
    if (many || member.unconfirmedBytes >= CONFIRM_EVERY_BYTES) sayTaken(member);
  }

  function sayTaken(member: Member): void {
    member.confirmed = member.taken;
    member.unconfirmedBytes = 0;
    member.stream?.send({ case: "taken", value: create(pb.TasksTakenSchema, { number: member.taken }) });
  }

  function receive(member: Member, { number, report }: pb.TasksReport): void {
    if (report.case === "hello") {
      if (report.value.error !== "") lost(member, `node ${member.share.node}: ${report.value.error}`);
      return;
    }
    // Said again after an interruption.
    if (number <= member.received) return;
    member.received = number;
    switch (report.case) {
      case "output":
        add({ case: "output", value: report.value }, member, number);
        break;
      case "taskEnd": {
        add({ case: "taskEnd", value: report.value }, member, number);
        const how = failureOf(report.value);
        if (how !== null) fail(how);
        break;
      }
      case "fence":
        fence(member, report.value);
        break;
      case "abort":
        fail(abortOf(report.value));
        break;
      case "names":
        askNames(report.value, (answer) => tellNamed(member, report.value.id, answer));
        break;
      case "done":
        member.done = true;
        member.cancelWait();
        queueLastWords(member, number);
        finishWhenAllAreDone();
        break;
      default:
    }
  }

  /** The end is confirmed only behind everything before it. */
  function queueLastWords(member: Member, number: number): void {
    queue.push({ event: { case: undefined }, member, number });
    wake();
  }

  function fence(member: Member, { number, entries }: pb.TasksFence): void {
    const place = shares.indexOf(member.share);
    const whole = exchange.arrive(place, number, entries);
    if (whole === null) return;
    for (const each of members.values()) tellFence(each, whole);
  }

  function tellFence(member: Member, { number, entries }: FenceResult): void {
    const pairs = entries.map(({ key, value }) => create(pb.KeyValueSchema, { key, value }));
    const value = create(pb.TasksFenceSchema, { number, entries: pairs });
    member.stream?.send({ case: "fenceDone", value });
  }

  function tellNamed(member: Member, id: number, { problem, found }: NameAnswer): void {
    const pairs = found.map(({ key, value }) => create(pb.KeyValueSchema, { key, value }));
    const value = create(pb.TasksNamedSchema, { id, problem, found: pairs });
    member.named = [...member.named, value].slice(-MOST_KEPT_ANSWERS);
    member.stream?.send({ case: "named", value });
  }

  /** Input may come before the node of the first task has answered. */
  function passInput(): void {
    const stream = members.get(shares[0]?.node ?? "")?.stream ?? null;
    if (stream === null) return;
    for (const value of early) stream.send({ case: "input", value });
    early = [];
  }

  async function* events(signal: AbortSignal): AsyncGenerator<pb.LaunchTasksResponse> {
    const stop = (): void => wake();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        const next = queue.shift();
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (signal.aborted) resolve();
          });
          continue;
        }
        if (next.event.case !== undefined) yield create(pb.LaunchTasksResponseSchema, { event: next.event });
        if (next.event.case === "end") return;
        confirm(next);
        if (next.event.case === undefined && next.member !== null) {
          sayTaken(next.member);
          next.member.stream?.end();
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  return {
    id,
    events,
    ended,
    fail,
    attach(node, stream) {
      const member = members.get(node);
      if (member === undefined) return false;
      member.stream?.end();
      member.stream = stream;
      member.cancelWait();
      const last = exchange.last();
      if (last !== null) tellFence(member, last);
      for (const value of member.named) stream.send({ case: "named", value });
      sayTaken(member);
      tellKill(member);
      passInput();
      return true;
    },
    report(node, report) {
      const member = members.get(node);
      if (member !== undefined) receive(member, report);
    },
    detach(node, stream) {
      const member = members.get(node);
      if (member?.stream !== stream) return;
      member.stream = null;
      if (!member.done) awaitReturn(member);
    },
    input(data, end) {
      const held = early.reduce((sum, piece) => sum + piece.data.length, 0);
      if (held + data.length > MAX_EARLY_INPUT_BYTES) return false;
      early.push(create(pb.TasksInputSchema, { data, end }));
      passInput();
      return true;
    },
  };
}

export const ENDED_BY_CALLER: Failure = { exitCode: ENDED_EXIT_CODE, reason: "the caller went away" };
