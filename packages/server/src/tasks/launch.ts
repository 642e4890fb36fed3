// One launch while it lasts, in the leader's memory: the streams of its nodes on one side, the caller
// on the other. A report is confirmed to its agent when the caller has it, so that a slow
// reader slows the tasks and nothing gathers here. A node that goes away may come back for a while;
// then the launch fails, and whatever is left of it is ended. So may a caller that says up to where it has the output, and it may
// find another leader by then: nodes say again whatever the caller has not, and what the leader has to know.

import { create } from "@bufbuild/protobuf";
import { type Duration, duration } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { type FenceResult, fences } from "./fence.ts";
import {
  CALLER_LOST,
  CALLER_WITHIN,
  FOUND_WITHIN,
  type Launch,
  type LaunchParts,
  type Positions,
  RETURN_WITHIN,
} from "./launch-parts.ts";
import { type Member, newMember } from "./member.ts";
import type { NameAnswer } from "./names.ts";
import { abortOf, type Failure, failureOf } from "./outcome.ts";
import { type EventQueue, eventQueue, type Queued } from "./queue.ts";

/** SIGTERM, two seconds, SIGKILL, and the way there and back. */
const END_WITHIN: Duration = duration(15_000);
/** Reports that are confirmed together; agents may have far more on the way. */
const CONFIRM_EVERY_REPORTS = 32;
const CONFIRM_EVERY_BYTES = 64 * 1024;
/** For a node that comes back; it has few questions open at once. */
const MOST_KEPT_ANSWERS = 256;
const MAX_EARLY_INPUT_BYTES = 1024 * 1024;
const LOST_EXIT_CODE = 1;

export function createLaunch(
  id: string,
  { shares, clock, askNames, returns, discarded, takenUp }: LaunchParts,
): Launch {
  const members = new Map<string, Member>();
  const exchange = fences(shares.length);
  const queue: EventQueue = eventQueue();
  /** How tasks ended, by rank, for a caller that comes back. */
  const ends = new Map<number, Queued>();
  /** Of nodes of a launch that is taken up, until all of them are there. */
  let questions: (() => void)[] = [];
  let early: pb.TasksInput[] = [];
  let failure: Failure | null = null;
  let reader: AsyncGenerator<pb.LaunchTasksResponse> | null = null;
  /** Until a caller has said where it is, nothing is for anybody. */
  let mode: "deliver" | "wait" | "discard" = takenUp ? "wait" : "deliver";
  let over = false;
  let cancelEnd: () => void = () => undefined;
  let cancelCaller: () => void = () => undefined;
  let settle: (failure: Failure | null) => void = () => undefined;
  const ended = new Promise<Failure | null>((resolve) => {
    settle = resolve;
  });
  for (const share of shares) {
    const member = newMember(share);
    members.set(share.node, member);
    awaitReturn(member, takenUp ? FOUND_WITHIN : RETURN_WITHIN);
  }
  if (takenUp) awaitCaller();

  function awaitReturn(member: Member, within: Duration): void {
    member.cancelWait();
    member.cancelWait = clock.after(within, () => {
      lost(member, `node ${member.share.node} did not answer within ${within / 1000} s`);
    });
  }

  function awaitCaller(): void {
    cancelCaller();
    cancelCaller = clock.after(CALLER_WITHIN, () => {
      fail(CALLER_LOST);
      discard();
    });
  }

  function lost(member: Member, reason: string): void {
    if (member.delivered) return;
    giveUp(member);
    fail({ exitCode: LOST_EXIT_CODE, reason });
    finishWhenAllAreDone();
  }

  function giveUp(member: Member): void {
    member.done = true;
    member.lost = true;
    member.delivered = true;
  }

  function fail(what: Failure): void {
    if (failure !== null || over) return;
    failure = what;
    for (const member of members.values()) tellKill(member);
    cancelEnd = clock.after(END_WITHIN, () => {
      for (const member of members.values()) if (!member.done) giveUp(member);
      finishWhenAllAreDone();
    });
    finishWhenAllAreDone();
  }

  function tellKill(member: Member): void {
    if (failure === null || member.done) return;
    member.stream?.send({ case: "kill", value: create(pb.TasksKillSchema, failure) });
  }

  function finishWhenAllAreDone(): void {
    if (over || mode === "wait" || [...members.values()].some((member) => !member.delivered)) return;
    over = true;
    cancelEnd();
    cancelCaller();
    const { exitCode, reason } = failure ?? { exitCode: 0, reason: "" };
    queue.add({ event: { case: "end", value: create(pb.LaunchEndSchema, { exitCode, reason }) } });
    settle(failure);
    if (mode === "discard") discarded();
  }

  /** Given to a caller that says nothing about it: the agent may forget it. */
  function confirm({ event, member, number }: Queued): void {
    if (member === undefined || (returns && mode !== "discard")) return;
    member.unconfirmedBytes += event.case === "output" ? event.value.data.length : 0;
    member.taken = Math.max(member.taken, number ?? 0);
    const many = member.taken - member.confirmed >= CONFIRM_EVERY_REPORTS;
    if (many || member.unconfirmedBytes >= CONFIRM_EVERY_BYTES || event.case === undefined) sayTaken(member);
    if (event.case === undefined && member.done) member.stream?.end();
  }

  function sayTaken(member: Member): void {
    member.confirmed = member.taken;
    member.unconfirmedBytes = 0;
    member.stream?.send({ case: "taken", value: create(pb.TasksTakenSchema, { number: member.taken }) });
  }

  function receive(member: Member, said: pb.TasksReport): void {
    if (said.report.case === "hello") {
      if (said.report.value.error !== "") lost(member, `node ${member.share.node}: ${said.report.value.error}`);
      return;
    }
    learn(member, said);
    if (mode === "discard") throwAway(member, said);
    else if (mode === "deliver" && isNext(member, said.number)) {
      member.received = said.number;
      deliver(member, said);
    }
    finishWhenAllAreDone();
  }

  function throwAway(member: Member, { number, report }: pb.TasksReport): void {
    member.received = Math.max(member.received, number);
    confirm({ event: report.case === "output" ? report : { case: undefined }, member, number });
    member.delivered = member.done;
  }

  /** What comes with a gap before it was on its way when the caller came back, and is said again. */
  const isNext = (member: Member, number: number): boolean =>
    member.repeats ? number === member.received + 1 : number > member.received;

  /** What the leader itself has to know; hearing it twice changes nothing. */
  function learn(member: Member, { number, report }: pb.TasksReport): void {
    switch (report.case) {
      case "taskEnd": {
        ends.set(report.value.rank, { event: report, member, number });
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
      case "killed":
        fail({ exitCode: report.value.exitCode, reason: report.value.reason });
        break;
      case "names":
        if (number > member.asked) ask(member, report.value);
        member.asked = Math.max(member.asked, number);
        break;
      case "done":
        member.done = true;
        member.cancelWait();
        break;
      default:
    }
  }

  function deliver(member: Member, { number, report }: pb.TasksReport): void {
    if (report.case === "output") queue.add({ event: { case: "output", value: report.value }, member, number });
    else if (report.case === "taskEnd") queue.add({ event: { case: "taskEnd", value: report.value }, member, number });
    else if (report.case === "done") {
      member.delivered = true;
      // The end is confirmed only behind everything before it.
      queue.add({ event: { case: undefined }, member, number });
    }
  }

  /** Names that nodes publish anew when another server leads are there before somebody looks for them. */
  function ask(member: Member, question: pb.TasksNames): void {
    const now = () => askNames(question, (answer) => tellNamed(member, question.id, answer));
    if (takenUp && question.act === pb.NameAct.LOOKUP && [...members.values()].some((one) => !one.seen))
      questions.push(now);
    else now();
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

  function tellNamed(member: Member, question: number, { problem, found }: NameAnswer): void {
    const pairs = found.map(({ key, value }) => create(pb.KeyValueSchema, { key, value }));
    const value = create(pb.TasksNamedSchema, { id: question, problem, found: pairs });
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

  /** Everything the caller does not have is to come again. */
  function goBack(from: Positions): void {
    queue.clear();
    over = false;
    mode = "deliver";
    for (const [place, share] of shares.entries()) {
      const member = members.get(share.node);
      if (member === undefined || member.lost) continue;
      member.received = from[place] ?? 0;
      member.delivered = false;
      if (member.stream === null) awaitReturn(member, FOUND_WITHIN);
      member.stream?.send({ case: "again", value: create(pb.TasksAgainSchema) });
    }
    for (const end of ends.values()) if ((end.number ?? 0) <= (end.member?.received ?? 0)) queue.add(end);
    finishWhenAllAreDone();
  }

  function events(from: Positions, signal: AbortSignal): AsyncGenerator<pb.LaunchTasksResponse> {
    cancelCaller();
    const isFirst = reader === null && !takenUp;
    if (!isFirst) goBack(from);
    const made = read(signal, () => reader === made);
    reader = made;
    queue.wake();
    return made;
  }

  async function* read(signal: AbortSignal, isMine: () => boolean): AsyncGenerator<pb.LaunchTasksResponse> {
    const stop = (): void => queue.wake();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted && isMine()) {
        const next = queue.next();
        if (next === undefined) {
          await queue.more(signal);
          continue;
        }
        const { event, member, number = 0 } = next;
        const nodeIndex = member === undefined ? 0 : shares.indexOf(member.share);
        if (event.case !== undefined) yield create(pb.LaunchTasksResponseSchema, { event, nodeIndex, number });
        if (event.case === "end") return;
        confirm(next);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
    if (!signal.aborted) throw elsewhere();
  }

  function letGo(member: Member): void {
    member.taken = Math.max(member.taken, member.received);
    member.delivered = member.done;
    sayTaken(member);
    if (member.done) member.stream?.end();
  }

  function discard(): void {
    queue.clear();
    cancelCaller();
    if (mode === "wait")
      for (const { stream } of members.values()) stream?.send({ case: "again", value: create(pb.TasksAgainSchema) });
    mode = "discard";
    for (const member of members.values()) letGo(member);
    if (over) discarded();
    else finishWhenAllAreDone();
  }

  return {
    id,
    shares,
    events,
    ended,
    fail,
    awaitCaller,
    discard,
    isRead: (by) => reader === by,
    repeats: () => [...members.values()].every(({ repeats, lost: isLost }) => repeats || isLost),
    taken(positions) {
      for (const [place, share] of shares.entries()) {
        const member = members.get(share.node);
        if (member === undefined) continue;
        const upTo = Math.min(positions[place] ?? 0, member.received);
        if (upTo <= member.taken) continue;
        member.taken = upTo;
        sayTaken(member);
      }
    },
    attach(node, stream, repeats) {
      const member = members.get(node);
      if (member === undefined) return false;
      member.stream?.end();
      member.stream = stream;
      member.repeats = repeats;
      member.seen = true;
      member.cancelWait();
      const last = exchange.last();
      if (last !== null) tellFence(member, last);
      for (const value of member.named) stream.send({ case: "named", value });
      if (member.taken > 0) sayTaken(member);
      tellKill(member);
      passInput();
      if ([...members.values()].every(({ seen }) => seen)) {
        for (const now of questions) now();
        questions = [];
      }
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
      if (!member.delivered) awaitReturn(member, RETURN_WITHIN);
    },
    input({ data, end, offset, rows, columns }) {
      const held = early.reduce((sum, piece) => sum + piece.data.length, 0);
      if (held + data.length > MAX_EARLY_INPUT_BYTES) return false;
      const at = offset === undefined ? {} : { offset };
      early.push(create(pb.TasksInputSchema, { data, end, rows, columns, ...at }));
      passInput();
      return true;
    },
    close() {
      for (const member of members.values()) letGo(member);
    },
    leave() {
      cancelCaller();
      cancelEnd();
      over = true;
      reader = null;
      queue.wake();
      for (const member of members.values()) {
        member.cancelWait();
        const { stream } = member;
        member.stream = null;
        member.delivered = true;
        stream?.drop();
      }
    },
  };
}

const elsewhere = (): ProblemError =>
  new ProblemError("not_leader", { detail: "The launch goes on at another server, or for another reader." });
