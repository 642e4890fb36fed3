// Every launch that this server leads, by its id: begun by a caller, joined by the agents that
// answer its order, and ended with the caller. Nothing of it is in the log: when another server
// takes over, callers are cut off and agents end what nobody knows any more.

import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  type Allocation,
  type AllocationId,
  duration,
  isPlaced,
  type NodeId,
  parseAllocationId,
  type View,
} from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { AgentHub } from "../agents/hub.ts";
import type { Clock } from "../clock.ts";
import type { FabricCredentials, FabricManager } from "../fabric/credentials.ts";
import { collective } from "./collective.ts";
import { fencePlaces } from "./fence-tree.ts";
import { type AskNames, createLaunch, ENDED_BY_CALLER, type Launch, type NodeStream } from "./launch.ts";
import { nameBook } from "./names.ts";
import type { Failure } from "./outcome.ts";
import { type LaunchPlan, planLaunch } from "./request.ts";

export interface LaunchesParts {
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly view: () => View;
  /** Null: launches need no credentials of a network. */
  readonly fabric: FabricManager | null;
  /** Launches on more nodes exchange addresses among their agents. */
  readonly starNodes: () => number;
  readonly ended: (result: "completed" | "failed", tasks: number) => void;
}

export type RunTasksCall = ServerDuplexStream<pb.TasksReport, pb.TasksOrder>;

export interface Launches {
  /** The caller has been judged; lasts until the launch has ended or the signal fires. */
  launch(request: pb.LaunchTasksRequest, signal: AbortSignal): AsyncGenerator<pb.LaunchTasksResponse>;
  input(request: pb.SendTaskInputRequest): void;
  /** The RunTasks handler. `stranger`: why this stream may not speak for a node, or null. */
  receive(call: RunTasksCall, stranger: (node: string) => string | null): void;
  readonly count: number;
}

/** More at once is a loop in somebody's script. */
const MAX_LAUNCHES = 10_000;
const NEVER = new AbortController().signal;

export function createLaunches({ hub, clock, view, fabric, starNodes, ended }: LaunchesParts): Launches {
  const live = new Map<string, { readonly launch: Launch; readonly allocation: AllocationId }>();
  const meetings = collective();
  const names = nameBook(clock);
  let counter = 0;

  async function* launch(request: pb.LaunchTasksRequest, signal: AbortSignal) {
    const allocation = known(view(), request.allocationId);
    const caller = callerOf(allocation, request);
    if (caller !== null && !caller.isFirst) {
      yield ending(await follow(allocation, caller, signal));
      return;
    }
    const plan = planLaunch(view(), allocation, request);
    if (live.size >= MAX_LAUNCHES)
      throw new ProblemError("rate_limited", { detail: `${live.size} launches are under way.` });
    const begun = await begin(plan, allocation, signal);
    if (caller !== null) meetings.lead(caller, begun.ended);
    yield* watched(begun, plan, signal);
  }

  async function begin(plan: LaunchPlan, allocation: Allocation, signal: AbortSignal): Promise<Launch> {
    const away = plan.shares.find(({ node }) => !hub.connected(node as NodeId));
    if (away !== undefined) throw unreachable(away.node);
    counter += 1;
    const id = `${allocation.id}.${allocation.attempt}.${clock.now().toString(36)}.${counter}`;
    const nodes = plan.shares.map(({ node }) => node);
    const request = { name: id, allocationId: allocation.id, nodes, vni: allocation.network?.vni ?? null };
    const credentials = fabric === null ? null : await fabric.issue(request, signal);
    const asker = { attempt: `${allocation.id}.${allocation.attempt}`, launch: id };
    const askNames: AskNames = (question, answered) => names.ask(asker, question, answered);
    const begun = createLaunch(id, { shares: plan.shares, clock, askNames });
    live.set(id, { launch: begun, allocation: allocation.id });
    const addresses = nodes.map((node) => hub.peer(node as NodeId));
    const places = fencePlaces({ addresses, nodes, starNodes: starNodes(), key: randomUUID() });
    for (const [nodeIndex, { node }] of plan.shares.entries()) {
      const fence = places?.[nodeIndex];
      const value = create(pb.StartTasksSchema, {
        ...plan.order,
        launchId: id,
        nodeIndex,
        ...cxiOf(credentials),
        ...(fence === undefined ? {} : { fence }),
      });
      hub.send(node as NodeId, { case: "startTasks", value });
    }
    void begun.ended.then((failure) => {
      names.forget(id);
      if (credentials !== null) void fabric?.revoke(credentials.serviceId);
      const tasks = plan.shares.reduce((sum, share) => sum + share.tasks, 0);
      ended(failure === null ? "completed" : "failed", tasks);
    });
    return begun;
  }

  async function* watched(begun: Launch, plan: LaunchPlan, signal: AbortSignal) {
    const layout = plan.shares.map((share) => create(pb.NodeTasksSchema, share));
    const started = create(pb.LaunchStartedSchema, { launchId: begun.id, layout });
    let whole = false;
    try {
      yield create(pb.LaunchTasksResponseSchema, { event: { case: "started", value: started } });
      yield* begun.events(signal);
      whole = !signal.aborted;
    } finally {
      if (whole) live.delete(begun.id);
      else void abandon(begun);
    }
  }

  /** Its tasks are ended, and what they still say is taken so that they can end. */
  async function abandon(begun: Launch): Promise<void> {
    begun.fail(ENDED_BY_CALLER);
    for await (const event of begun.events(NEVER)) if (event.event.case === "end") break;
    live.delete(begun.id);
  }

  /** The end of the first node's launch; a first node that has gone on without one is told. */
  async function follow(
    allocation: Allocation,
    caller: NonNullable<ReturnType<typeof callerOf>>,
    signal: AbortSignal,
  ): Promise<Failure | null> {
    forgetEnded();
    const gone = new Promise<Failure>((resolve) => {
      const look = () => {
        const reason = absence(view(), allocation);
        if (reason !== null) return resolve({ exitCode: 1, reason });
        if (!signal.aborted) clock.after(LOOK_EVERY, look);
      };
      look();
    });
    return Promise.race([meetings.follow(caller), gone]);
  }

  function forgetEnded(): void {
    for (const attempt of meetings.attempts()) {
      const [id = "", number] = attempt.split(".");
      const record = view().allocation(id as AllocationId);
      if (record === undefined || record.attempt !== Number(number) || !isPlaced(record.phase))
        meetings.forget(attempt);
    }
  }

  function input({ allocationId, launchId, data, end }: pb.SendTaskInputRequest): void {
    const found = live.get(launchId);
    if (found === undefined || found.allocation !== allocationId)
      throw new ProblemError("unknown_launch", {
        detail: `Allocation ${allocationId} has no launch "${launchId.slice(0, 80)}".`,
      });
    if (!found.launch.input(data, end))
      throw new ProblemError("rate_limited", {
        detail: "The first task's node is away, and too much input waits for it.",
      });
  }

  function receive(call: RunTasksCall, stranger: (node: string) => string | null): void {
    let joined: { readonly launch: Launch; readonly node: string } | null = null;
    const stream: NodeStream = {
      send: (order) => void call.write(create(pb.TasksOrderSchema, { order })),
      end: () => call.end(),
    };
    call.on("data", (report: pb.TasksReport) => {
      joined ??= join({ call, stream, stranger }, report);
      joined?.launch.report(joined.node, report);
    });
    const leave = () => {
      joined?.launch.detach(joined.node, stream);
    };
    call.on("end", () => {
      leave();
      call.end();
    });
    call.on("error", leave);
    call.on("cancelled", leave);
  }

  function join({ call, stream, stranger }: Arrival, { report }: pb.TasksReport) {
    const hello = report.case === "hello" && stranger(report.value.nodeId) === null ? report.value : null;
    const found = live.get(hello?.launchId ?? "")?.launch;
    if (hello !== null && found?.attach(hello.nodeId, stream) === true) return { launch: found, node: hello.nodeId };
    call.emit("error", { code: status.NOT_FOUND, details: "there is no such launch" });
    return null;
  }

  return {
    launch,
    input,
    receive,
    get count() {
      return live.size;
    },
  };
}

const cxiOf = (credentials: FabricCredentials | null): { cxi?: pb.CxiCredentials } =>
  credentials === null ? {} : { cxi: create(pb.CxiCredentialsSchema, credentials) };

interface Arrival {
  readonly call: RunTasksCall;
  readonly stream: NodeStream;
  readonly stranger: (node: string) => string | null;
}

const LOOK_EVERY = duration(500);

function known(view: View, id: string): Allocation {
  const parsed = parseAllocationId(id);
  const found = parsed === null ? undefined : view.allocation(parsed);
  if (found === undefined)
    throw new ProblemError("unknown_allocation", {
      detail: `There is no allocation ${JSON.stringify(id.slice(0, 80))}.`,
    });
  return found;
}

/** Null: from outside of the job. */
function callerOf({ id, attempt, phase }: Allocation, { callerNode, callerAttempt }: pb.LaunchTasksRequest) {
  if (callerNode === "" || !isPlaced(phase) || callerAttempt !== attempt) return null;
  const place = phase.nodes.indexOf(callerNode as NodeId);
  if (place < 0 || phase.nodes.length === 1) return null;
  return { attempt: `${id}.${attempt}`, node: callerNode, isFirst: place === 0 };
}

/** Why the first node will not launch any more; null while it may. */
function absence(view: View, { id, attempt }: Allocation): string | null {
  const record = view.allocation(id);
  if (record === undefined || record.attempt !== attempt || !isPlaced(record.phase)) return "the attempt is over";
  const first = record.phase.progress[0]?.state;
  return first === "completed" || first === "failed"
    ? `the script on the first node, ${record.phase.nodes[0] ?? ""}, has ended without this launch`
    : null;
}

const ending = (failure: Failure | null): pb.LaunchTasksResponse =>
  create(pb.LaunchTasksResponseSchema, {
    event: { case: "end", value: create(pb.LaunchEndSchema, failure ?? { exitCode: 0, reason: "" }) },
  });

const unreachable = (node: string): ProblemError =>
  new ProblemError("node_unreachable", {
    detail: `The agent of node ${node} is not connected, so no task can be started there.`,
    hint: "Try again when the node is back (lattice nodes shows its state).",
  });
