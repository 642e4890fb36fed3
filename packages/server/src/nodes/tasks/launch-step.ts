// The state machine of one launch: an event in, the next state and the effects out. A node that goes away may come back for a while;
// then the launch fails and its remaining tasks are killed. A caller may come back too, perhaps to another leader: nodes repeat
// every report that the caller lacks and everything that the leader has to know. Pure.

import { create } from "@bufbuild/protobuf";
import type { Duration } from "@lattice/core";
import { pb } from "@lattice/wire";
import { arrive, type FenceResult, type KeyValue } from "./fence.ts";
import {
  CALLER_LOST,
  CALLER_WITHIN,
  type CallerEvent,
  END_WITHIN,
  FOUND_WITHIN,
  type LaunchEffect,
  type LaunchState,
  type LaunchStepEvent,
  type LaunchTimer,
  type MemberState,
  type NameQuestion,
  type Positions,
  RETURN_WITHIN,
} from "./launch-state.ts";
import type { NameAnswer } from "./names.ts";
import { abortOf, failureOf, type LaunchFailure } from "./outcome.ts";

/** Reports confirmed together; agents may have far more in flight. */
const CONFIRM_EVERY_REPORTS = 32;
const CONFIRM_EVERY_BYTES = 64 * 1024;
/** Answers kept for a node that reconnects; it has few open questions at once. */
const MAX_KEPT_ANSWERS = 256;
const LOST_EXIT_CODE = 1;

/** One step under way: the state so far, and the effects so far, in order. */
interface Turn {
  state: LaunchState;
  readonly effects: LaunchEffect[];
}

export function step(
  state: LaunchState,
  event: LaunchStepEvent,
): readonly [state: LaunchState, effects: readonly LaunchEffect[]] {
  const turn: Turn = { state, effects: [] };
  handle(turn, event);
  return [turn.state, turn.effects];
}

function handle(turn: Turn, event: LaunchStepEvent): void {
  switch (event.kind) {
    case "opened":
      open(turn);
      break;
    case "attached":
      attach(turn, event.place, event.repeats);
      break;
    case "detached":
      detach(turn, event.place);
      break;
    case "reported":
      receive(turn, event.place, event.report);
      break;
    case "named":
      answerNames(turn, event.place, event.id, event.answer);
      break;
    case "timer":
      expire(turn, event.timer);
      break;
    case "read":
      read(turn, event.from);
      break;
    case "consumed":
      confirm(turn, event.event);
      break;
    case "acknowledged":
      acknowledge(turn, event.positions);
      break;
    case "caller_away":
      start(turn, { name: "caller" }, CALLER_WITHIN);
      break;
    case "input":
      set(turn, { pendingInput: [...turn.state.pendingInput, event.input] });
      passInput(turn);
      break;
    case "fail":
      fail(turn, event.failure);
      break;
    case "discard":
      discard(turn);
      break;
    case "close":
      for (const place of places(turn)) release(turn, place);
      break;
    case "leave":
      leave(turn);
      break;
  }
}

const set = (turn: Turn, change: Partial<LaunchState>): void => {
  turn.state = { ...turn.state, ...change };
};

function update(turn: Turn, place: number, change: Partial<MemberState>): void {
  set(turn, { members: turn.state.members.with(place, { ...memberAt(turn, place), ...change }) });
}

function memberAt({ state }: Turn, place: number): MemberState {
  const member = state.members[place];
  if (member === undefined) throw new Error(`a launch of ${state.members.length} nodes has no node ${place}`);
  return member;
}

const places = ({ state }: Turn): readonly number[] => [...state.members.keys()];

function send(turn: Turn, place: number, order: pb.TasksOrder["order"]): void {
  if (memberAt(turn, place).isAttached) turn.effects.push({ kind: "send", place, order });
}

const start = ({ effects }: Turn, timer: LaunchTimer, after: Duration): void =>
  void effects.push({ kind: "start_timer", timer, after });

const stop = ({ effects }: Turn, timer: LaunchTimer): void => void effects.push({ kind: "stop_timer", timer });

const startMemberTimer = (turn: Turn, place: number, within: Duration): void =>
  start(turn, { name: "member", place, within }, within);

const stopMemberTimer = (turn: Turn, place: number): void =>
  stop(turn, { name: "member", place, within: RETURN_WITHIN });

const queue = ({ effects }: Turn, event: CallerEvent): void => void effects.push({ kind: "queue", event });

function open(turn: Turn): void {
  const { adopted } = turn.state;
  for (const place of places(turn)) startMemberTimer(turn, place, adopted ? FOUND_WITHIN : RETURN_WITHIN);
  if (adopted) start(turn, { name: "caller" }, CALLER_WITHIN);
}

function attach(turn: Turn, place: number, repeats: boolean): void {
  update(turn, place, { isAttached: true, repeats, seen: true });
  stopMemberTimer(turn, place);
  const { last } = turn.state.exchange;
  if (last !== null) sendFence(turn, place, last);
  const { named, taken } = memberAt(turn, place);
  for (const value of named) send(turn, place, { case: "named", value });
  if (taken > 0) sendTaken(turn, place);
  sendKill(turn, place);
  passInput(turn);
  const { members, postponed } = turn.state;
  if (postponed.length === 0 || members.some(({ seen }) => !seen)) return;
  set(turn, { postponed: [] });
  for (const question of postponed) turn.effects.push({ kind: "ask_names", ...question });
}

function detach(turn: Turn, place: number): void {
  update(turn, place, { isAttached: false });
  if (!memberAt(turn, place).delivered) startMemberTimer(turn, place, RETURN_WITHIN);
}

function lose(turn: Turn, place: number, reason: string): void {
  if (memberAt(turn, place).delivered) return;
  giveUp(turn, place);
  fail(turn, { exitCode: LOST_EXIT_CODE, reason });
  finishIfDone(turn);
}

const giveUp = (turn: Turn, place: number): void => update(turn, place, { done: true, lost: true, delivered: true });

/** Input may arrive before the node of the first task has attached. */
function passInput(turn: Turn): void {
  const { members, pendingInput } = turn.state;
  if (members[0]?.isAttached !== true) return;
  set(turn, { pendingInput: [] });
  for (const { data, end, rows, columns, offset } of pendingInput) {
    const at = offset === undefined ? {} : { offset };
    send(turn, 0, { case: "input", value: create(pb.TasksInputSchema, { data, end, rows, columns, ...at }) });
  }
}

function receive(turn: Turn, place: number, message: pb.TasksReport): void {
  const { node } = memberAt(turn, place);
  if (message.report.case === "hello") {
    if (message.report.value.error !== "") lose(turn, place, `node ${node}: ${message.report.value.error}`);
    return;
  }
  learn(turn, place, message);
  const { mode } = turn.state;
  if (mode === "discard") drop(turn, place, message);
  else if (mode === "deliver" && isNext(memberAt(turn, place), message.number)) {
    update(turn, place, { received: message.number });
    deliver(turn, place, message);
  }
  finishIfDone(turn);
}

/** A report after a gap was in flight when the caller came back; the node repeats it. */
const isNext = ({ repeats, received }: MemberState, number: number): boolean =>
  repeats ? number === received + 1 : number > received;

/** Takes from a report what the leader itself has to know. A repeated report changes nothing. */
function learn(turn: Turn, place: number, { number, report }: pb.TasksReport): void {
  const { questioned, ends } = memberAt(turn, place);
  switch (report.case) {
    case "taskEnd": {
      const others = ends.filter(({ end }) => end.rank !== report.value.rank);
      update(turn, place, { ends: [...others, { number, end: report.value }] });
      const failure = failureOf(report.value);
      if (failure !== null) fail(turn, failure);
      break;
    }
    case "fence":
      fence(turn, place, report.value);
      break;
    case "abort":
      fail(turn, abortOf(report.value));
      break;
    case "killed":
      fail(turn, { exitCode: report.value.exitCode, reason: report.value.reason });
      break;
    case "names":
      if (number > questioned) ask(turn, { place, question: report.value });
      update(turn, place, { questioned: Math.max(questioned, number) });
      break;
    case "done":
      update(turn, place, { done: true });
      stopMemberTimer(turn, place);
      break;
    default:
  }
}

function deliver(turn: Turn, place: number, { number, report }: pb.TasksReport): void {
  if (report.case === "output" || report.case === "taskEnd") queue(turn, { event: report, place, number });
  if (report.case !== "done") return;
  update(turn, place, { delivered: true });
  // An empty event: the end is confirmed only after everything before it.
  queue(turn, { event: { case: undefined }, place, number });
}

function drop(turn: Turn, place: number, { number, report }: pb.TasksReport): void {
  update(turn, place, { received: Math.max(memberAt(turn, place).received, number) });
  confirm(turn, { event: report.case === "output" ? report : { case: undefined }, place, number });
  update(turn, place, { delivered: memberAt(turn, place).done });
}

/** The caller has received the event; unless it acknowledges by itself, the agent may forget the report. */
function confirm(turn: Turn, { event, place, number }: CallerEvent): void {
  const { resumable, mode } = turn.state;
  if (place === null || (resumable && mode !== "discard")) return;
  const member = memberAt(turn, place);
  const unconfirmedBytes = member.unconfirmedBytes + (event.case === "output" ? event.value.data.length : 0);
  const taken = Math.max(member.taken, number);
  update(turn, place, { unconfirmedBytes, taken });
  const isBatch = taken - member.confirmed >= CONFIRM_EVERY_REPORTS || unconfirmedBytes >= CONFIRM_EVERY_BYTES;
  if (isBatch || event.case === undefined) sendTaken(turn, place);
  if (event.case === undefined && member.done) turn.effects.push({ kind: "end_stream", place });
}

function sendTaken(turn: Turn, place: number): void {
  const { taken } = memberAt(turn, place);
  update(turn, place, { confirmed: taken, unconfirmedBytes: 0 });
  send(turn, place, { case: "taken", value: create(pb.TasksTakenSchema, { number: taken }) });
}

function acknowledge(turn: Turn, positions: Positions): void {
  for (const place of places(turn)) {
    const { received, taken } = memberAt(turn, place);
    const upTo = Math.min(positions[place] ?? 0, received);
    if (upTo <= taken) continue;
    update(turn, place, { taken: upTo });
    sendTaken(turn, place);
  }
}

function fence(turn: Turn, place: number, { number, entries }: pb.TasksFence): void {
  const [exchange, result] = arrive(turn.state.exchange, { place, number, entries });
  set(turn, { exchange });
  if (result === null) return;
  for (const each of places(turn)) sendFence(turn, each, result);
}

function sendFence(turn: Turn, place: number, { number, entries }: FenceResult): void {
  const value = create(pb.TasksFenceSchema, { number, entries: pairsOf(entries) });
  send(turn, place, { case: "fenceDone", value });
}

/** Names that nodes publish again after a change of leader must be known before a lookup is answered. */
function ask(turn: Turn, question: NameQuestion): void {
  const { adopted, members, postponed } = turn.state;
  const isLookup = question.question.act === pb.NameAct.LOOKUP;
  if (adopted && isLookup && members.some(({ seen }) => !seen)) set(turn, { postponed: [...postponed, question] });
  else turn.effects.push({ kind: "ask_names", ...question });
}

function answerNames(turn: Turn, place: number, id: number, { problem, found }: NameAnswer): void {
  const value = create(pb.TasksNamedSchema, { id, problem, found: pairsOf(found) });
  update(turn, place, { named: [...memberAt(turn, place).named, value].slice(-MAX_KEPT_ANSWERS) });
  send(turn, place, { case: "named", value });
}

const pairsOf = (entries: readonly KeyValue[]) =>
  entries.map(({ key, value }) => create(pb.KeyValueSchema, { key, value }));

function read(turn: Turn, from: Positions): void {
  const { hasReader, adopted } = turn.state;
  stop(turn, { name: "caller" });
  if (hasReader || adopted) rewind(turn, from);
  set(turn, { hasReader: true });
}

/** Makes the nodes repeat everything that the caller lacks. */
function rewind(turn: Turn, from: Positions): void {
  turn.effects.push({ kind: "clear_queue" });
  set(turn, { isOver: false, mode: "deliver" });
  for (const place of places(turn)) {
    if (memberAt(turn, place).lost) continue;
    update(turn, place, { received: from[place] ?? 0, delivered: false });
    if (!memberAt(turn, place).isAttached) startMemberTimer(turn, place, FOUND_WITHIN);
    send(turn, place, { case: "again", value: create(pb.TasksAgainSchema) });
  }
  for (const [place, { ends, received }] of turn.state.members.entries())
    for (const { number, end } of ends)
      if (number <= received) queue(turn, { event: { case: "taskEnd", value: end }, place, number });
  finishIfDone(turn);
}

function discard(turn: Turn): void {
  turn.effects.push({ kind: "clear_queue" });
  stop(turn, { name: "caller" });
  if (turn.state.mode === "wait")
    for (const place of places(turn)) send(turn, place, { case: "again", value: create(pb.TasksAgainSchema) });
  set(turn, { mode: "discard" });
  for (const place of places(turn)) release(turn, place);
  if (turn.state.isOver) turn.effects.push({ kind: "discarded" });
  else finishIfDone(turn);
}

/** Confirms everything that was received, so that the agent may forget it. */
function release(turn: Turn, place: number): void {
  const { taken, received, done } = memberAt(turn, place);
  update(turn, place, { taken: Math.max(taken, received), delivered: done });
  sendTaken(turn, place);
  if (done) turn.effects.push({ kind: "end_stream", place });
}

function expire(turn: Turn, timer: LaunchTimer): void {
  if (timer.name === "caller") {
    fail(turn, CALLER_LOST);
    discard(turn);
  } else if (timer.name === "end") {
    for (const place of places(turn)) if (!memberAt(turn, place).done) giveUp(turn, place);
    finishIfDone(turn);
  } else {
    const { node } = memberAt(turn, timer.place);
    lose(turn, timer.place, `node ${node} did not answer within ${timer.within / 1000} s`);
  }
}

function fail(turn: Turn, failure: LaunchFailure): void {
  if (turn.state.failure !== null || turn.state.isOver) return;
  set(turn, { failure });
  for (const place of places(turn)) sendKill(turn, place);
  start(turn, { name: "end" }, END_WITHIN);
  finishIfDone(turn);
}

function sendKill(turn: Turn, place: number): void {
  const { failure } = turn.state;
  if (failure === null || memberAt(turn, place).done) return;
  send(turn, place, { case: "kill", value: create(pb.TasksKillSchema, failure) });
}

function finishIfDone(turn: Turn): void {
  const { isOver, mode, members, failure } = turn.state;
  if (isOver || mode === "wait" || members.some(({ delivered }) => !delivered)) return;
  set(turn, { isOver: true });
  stop(turn, { name: "end" });
  stop(turn, { name: "caller" });
  const value = create(pb.LaunchEndSchema, failure ?? { exitCode: 0, reason: "" });
  queue(turn, { event: { case: "end", value }, place: null, number: 0 });
  turn.effects.push({ kind: "settle", failure });
  if (mode === "discard") turn.effects.push({ kind: "discarded" });
}

function leave(turn: Turn): void {
  stop(turn, { name: "caller" });
  stop(turn, { name: "end" });
  set(turn, { isOver: true, hasReader: false });
  for (const place of places(turn)) {
    stopMemberTimer(turn, place);
    if (memberAt(turn, place).isAttached) turn.effects.push({ kind: "drop_stream", place });
    update(turn, place, { isAttached: false, delivered: true });
  }
}
