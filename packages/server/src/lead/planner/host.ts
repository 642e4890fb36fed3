// Runs a planner on a copy of the state: restores it from lines, folds the entries of the log into it, and answers the
// calls in the order in which they were sent. It does not know where it runs: in a thread, or inside its server.

import {
  applyEntry,
  decodeEntry,
  type NodeId,
  readSnapshot,
  type SnapshotReader,
  type State,
  warmStateHash,
} from "@lattice/core";
import type { Clock } from "../../base/clock.ts";
import { sha256 } from "../../state/replica/hash.ts";
import { HashSeries } from "../../state/replica/hash-series.ts";
import { createWarmer, WARM_RECORDS } from "../../state/replica/warmer.ts";
import type { CycleReply, FromPlanner, MeasuredFacts, ToPlanner } from "./messages.ts";
import { buffersOf } from "./packed.ts";
import { createPlanner, type ObserveCycle, type Planner } from "./planner.ts";
import { RefusedError } from "./refused.ts";

interface HostParts {
  readonly clock: Clock;
  /** `moved`: buffers that the message owns. */
  readonly post: (message: FromPlanner, moved?: readonly ArrayBuffer[]) => void;
  readonly onCycle?: ObserveCycle;
}

interface PlannerHost {
  /** Throws when the message cannot be carried out: the copy of the state is then useless. */
  handle(message: ToPlanner): void;
  close(): void;
}

/** A copy of the state that follows the log. */
interface Following {
  readonly state: State;
  readonly planner: Planner;
  readonly series: HashSeries;
  readonly warmer: ReturnType<typeof createWarmer>;
  /** How many marks of the series were sent. */
  sentThrough: number;
}

export function createPlannerHost({ clock, post, onCycle }: HostParts): PlannerHost {
  const reader = readSnapshot();
  const connected = new Set<NodeId>();
  let measured: MeasuredFacts = { signals: undefined, stale: null };
  let following: Following | null = null;

  const facts = {
    clock,
    isReachable: (node: NodeId) => connected.has(node),
    measured: () => measured,
    observeError: (vcluster, which, seconds) => post({ kind: "estimate_error", vcluster, which, seconds }),
  } satisfies Omit<Parameters<typeof createPlanner>[0], "view">;

  return {
    handle(message) {
      switch (message.kind) {
        case "lines":
          for (const line of message.lines) reader.line(line);
          return;
        case "restored":
          following = follow(reader, clock, (view) => createPlanner({ ...facts, view }, onCycle));
          following.planner.carryOver(message.reservations);
          return post({ kind: "ready", index: following.state.index });
        case "entries":
          fold(restored(), message);
          return sendMarks(restored(), post);
        case "connections":
          for (const [node, isConnected] of message.changed) {
            if (isConnected) connected.add(node);
            else connected.delete(node);
          }
          return;
        case "measured":
          measured = message.facts;
          return;
        case "cycle":
        case "ask":
          return answer(restored().planner, message, post);
      }
    },
    close() {
      following?.series.close();
      following?.warmer.close();
    },
  };

  function restored(): Following {
    if (following === null) throw new Error("the planner has no state yet");
    return following;
  }
}

function follow(reader: SnapshotReader, clock: Clock, plan: (view: () => State) => Planner): Following {
  const { state } = reader.complete();
  const warmer = createWarmer(clock, () => warmStateHash(state, sha256, WARM_RECORDS));
  warmer.later();
  return { state, planner: plan(() => state), series: new HashSeries(state, clock), warmer, sentThrough: 0 };
}

function fold({ state, planner, series, warmer }: Following, message: Extract<ToPlanner, { kind: "entries" }>): void {
  const text = new TextDecoder();
  let from = 0;
  for (const length of message.lengths) {
    const { at: before } = state;
    const { at, events } = applyEntry(state, decodeEntry(text.decode(message.bytes.subarray(from, from + length))));
    from += length;
    series.applied(before);
    planner.onEvents(events.map((event) => ({ at, event })));
  }
  warmer.later();
}

/** Sends the state hashes that the server has not seen. */
function sendMarks(following: Following, post: HostParts["post"]): void {
  const marks = following.series.marks().filter(({ index }) => index > following.sentThrough);
  if (marks.length === 0) return;
  following.sentThrough = marks.at(-1)?.index ?? following.sentThrough;
  post({ kind: "marks", marks });
}

function answer(
  planner: Planner,
  message: Extract<ToPlanner, { kind: "cycle" | "ask" }>,
  post: HostParts["post"],
): void {
  const { call, facts } = message;
  try {
    if (message.kind === "ask") post({ kind: "answered", call, answer: planner.answer(message.question, facts) });
    else {
      const reply = planner.cycle(message.vcluster, facts);
      post({ kind: "cycled", call, reply }, reply === null ? [] : buffersIn(reply));
    }
  } catch (error) {
    const refusal = error instanceof RefusedError ? error.refusal : null;
    post({
      kind: "failed",
      call,
      refusal,
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
}

const buffersIn = ({ report }: CycleReply): readonly ArrayBuffer[] =>
  report.kind === "brief"
    ? []
    : [
        ...buffersOf(report.estimates),
        ...buffersOf(report.reasons.index),
        report.reasons.bytes.buffer as ArrayBuffer,
        report.reasons.ends.buffer as ArrayBuffer,
      ];
