// Every launch that this server leads, by its id: begun by a caller, joined by the agents that
// answer its order, and ended with the caller. Nothing of it is in the log: when another server
// takes over, agents tell it what they run, callers that return find it there, and what cannot be taken up is ended.

import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { type Allocation, type AllocationId, duration, isPlaced, type NodeId, type View } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import type { AgentHub } from "../agents/hub.ts";
import { type Clock, sleep } from "../clock.ts";
import type { FabricManager } from "../fabric/credentials.ts";
import { collective } from "./collective.ts";
import { fencePlaces } from "./fence-tree.ts";
import { createLaunch } from "./launch.ts";
import {
  absence,
  belongs,
  callerOf,
  cxiOf,
  ending,
  gone,
  known,
  ticketOf,
  tokenEnded,
  unknownLaunch,
  unreachable,
} from "./launch-facts.ts";
import {
  type AskNames,
  CALLER_WITHIN,
  ENDED_BY_CALLER,
  ENDED_ON_REQUEST,
  type Launch,
  type Positions,
} from "./launch-parts.ts";
import type { NodeShare } from "./layout.ts";
import type { NodeStream } from "./member.ts";
import { nameBook } from "./names.ts";
import type { Failure } from "./outcome.ts";
import { type LaunchPlan, planLaunch } from "./request.ts";
import { stepNumbers } from "./steps.ts";

export interface LaunchesParts {
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly view: () => View;
  /** Null: launches need no credentials of a network. */
  readonly fabric: FabricManager | null;
  /** Launches on more nodes exchange addresses among their agents. */
  readonly starNodes: () => number;
  /** Where the APIs of all servers are reached. */
  readonly servers: () => readonly string[];
  readonly ended: (result: "completed" | "failed", tasks: number) => void;
  /** One that an earlier leader had begun goes on here. */
  readonly takenUp: () => void;
}

export type RunTasksCall = ServerDuplexStream<pb.TasksReport, pb.TasksOrder>;

export interface Launches {
  /** The caller has been judged; lasts until the launch has ended or the signal fires. */
  launch(request: pb.LaunchTasksRequest, how: Listening): AsyncGenerator<pb.LaunchTasksResponse>;
  input(request: pb.SendTaskInputRequest): void;
  tell(request: pb.TellLaunchRequest): void;
  /** The RunTasks handler. `stranger`: why this stream may not speak for a node, or null. */
  receive(call: RunTasksCall, stranger: (node: string) => string | null): void;
  /** This server leads no more: whoever takes part is sent to the one that does. */
  leave(): void;
  readonly count: number;
}

export interface Listening {
  readonly signal: AbortSignal;
  /** Another server stands between: that it is gone does not mean that the caller is. */
  readonly relayed: boolean;
}

/** More at once is a loop in somebody's script. */
const MAX_LAUNCHES = 10_000;
/** How long the end is kept for a caller that does not say that it has it. */
const LAST_WORDS = duration(10_000);
const FROM_THE_START: Positions = [];

export function createLaunches(parts: LaunchesParts): Launches {
  const { hub, clock, view, fabric, starNodes, servers, ended } = parts;
  const live = new Map<string, Live>();
  const meetings = collective();
  const names = nameBook(clock);
  const numberOf = stepNumbers();
  let reign = new AbortController();

  async function* launch(request: pb.LaunchTasksRequest, how: Listening) {
    const allocation = known(view(), request.allocationId);
    const caller = callerOf(allocation, request);
    if (caller !== null && !caller.isFirst) {
      yield* followed(allocation, caller, request, how.signal);
      return;
    }
    if (request.resume !== undefined) {
      const { launchId, positions } = request.resume;
      yield* watched(await findAgain(allocation, launchId, how.signal), positions, how);
      return;
    }
    const plan = planLaunch(view(), allocation, request);
    if (live.size >= MAX_LAUNCHES)
      throw new ProblemError("rate_limited", { detail: `${live.size} launches are under way.` });
    const call = caller === null ? null : meetings.next(caller);
    const begun = await begin(plan, allocation, { returns: request.returns, call, signal: how.signal });
    if (caller !== null) meetings.lead(caller, begun.launch.ended);
    yield* watched(begun, FROM_THE_START, how);
  }

  async function begin(plan: LaunchPlan, allocation: Allocation, { returns, call, signal }: Beginning): Promise<Live> {
    const away = plan.shares.find(({ node }) => !hub.connected(node as NodeId));
    if (away !== undefined) throw unreachable(away.node);
    const attempt = `${allocation.id}.${allocation.attempt}`;
    const id = `${attempt}.${clock.now().toString(36)}.${numberOf(attempt)}`;
    const nodes = plan.shares.map(({ node }) => node);
    const request = { name: id, allocationId: allocation.id, nodes, vni: allocation.network?.vni ?? null };
    const credentials = fabric === null ? null : await fabric.issue(request, signal);
    const made = add(id, allocation, plan.shares, {
      returns,
      takenUp: false,
      call,
      service: credentials?.serviceId ?? "",
    });
    const addresses = nodes.map((node) => hub.peer(node as NodeId));
    const places = fencePlaces({ addresses, nodes, starNodes: starNodes(), key: randomUUID() });
    const ticket = returns ? ticketOf(allocation, plan, call, credentials) : null;
    for (const [nodeIndex, { node }] of plan.shares.entries()) {
      const fence = places?.[nodeIndex];
      const value = create(pb.StartTasksSchema, {
        ...plan.order,
        launchId: id,
        nodeIndex,
        ...cxiOf(credentials),
        ...(fence === undefined ? {} : { fence }),
        ...(ticket === null ? {} : { ticket }),
      });
      hub.send(node as NodeId, { case: "startTasks", value });
    }
    return made;
  }

  function add(
    id: string,
    allocation: Allocation,
    shares: readonly NodeShare[],
    { returns, takenUp, call, service }: Kind,
  ): Live {
    const asker = { attempt: `${allocation.id}.${allocation.attempt}`, launch: id };
    const askNames: AskNames = (question, answered) => names.ask(asker, question, answered);
    const made: Launch = createLaunch(id, {
      ...{ shares, clock, askNames, returns, takenUp },
      discarded: () => forget(made),
    });
    const entry: Live = { launch: made, allocation: allocation.id, returns, call };
    live.set(id, entry);
    void made.ended.then((failure) => {
      names.forget(id);
      if (service !== "") void fabric?.revoke(service);
      const tasks = shares.reduce((sum, share) => sum + share.tasks, 0);
      ended(failure === null ? "completed" : "failed", tasks);
    });
    return entry;
  }

  async function* watched({ launch: begun, returns, call }: Live, from: Positions, { signal, relayed }: Listening) {
    const layout = begun.shares.map((share) => create(pb.NodeTasksSchema, share));
    const started = create(pb.LaunchStartedSchema, {
      launchId: begun.id,
      layout,
      call: call ?? 0,
      servers: [...servers()],
    });
    const events = begun.events(from, signal);
    let whole = false;
    try {
      yield create(pb.LaunchTasksResponseSchema, { event: { case: "started", value: started } });
      yield* events;
      whole = !signal.aborted;
    } finally {
      if (live.get(begun.id)?.launch === begun && begun.isRead(events)) {
        if (whole && returns) clock.after(LAST_WORDS, () => begun.isRead(events) && forget(begun));
        else if (whole) forget(begun);
        else if (returns && (relayed || tokenEnded(signal))) begun.awaitCaller();
        else abandon(begun);
      }
    }
  }

  function forget(begun: Launch): void {
    if (live.get(begun.id)?.launch !== begun) return;
    begun.close();
    live.delete(begun.id);
  }

  /** Its tasks are ended, and what they still say is taken so that they can end. */
  function abandon(begun: Launch): void {
    begun.fail(ENDED_BY_CALLER);
    begun.discard();
  }

  /** After a change of leader callers may be here before the agents that run what they ask for. */
  async function findAgain(allocation: Allocation, launchId: string, signal: AbortSignal): Promise<Live> {
    for (let waited = 0; ; waited += LOOK_EVERY) {
      const found = live.get(launchId);
      const fits = found?.allocation === allocation.id && found.returns && found.launch.repeats();
      if (found !== undefined && fits) return found;
      if (found !== undefined || waited >= CALLER_WITHIN) throw unknownLaunch(allocation.id, launchId);
      await sleep(clock, LOOK_EVERY, AbortSignal.any([signal, reign.signal]));
      if (reign.signal.aborted) throw gone();
      if (signal.aborted) throw unknownLaunch(allocation.id, launchId);
    }
  }

  async function* followed(
    allocation: Allocation,
    caller: NonNullable<ReturnType<typeof callerOf>>,
    { returns, resume }: pb.LaunchTasksRequest,
    signal: AbortSignal,
  ) {
    const call = resume?.call ?? meetings.next(caller);
    const how = follow(allocation, { caller, call }, signal);
    how.catch(() => undefined);
    const started = create(pb.LaunchStartedSchema, { call, servers: [...servers()] });
    if (returns) yield create(pb.LaunchTasksResponseSchema, { event: { case: "started", value: started } });
    yield ending(await how);
  }

  /** The end of the first node's launch; a first node that has gone on without one is told. */
  async function follow(
    allocation: Allocation,
    { caller, call }: { readonly caller: NonNullable<ReturnType<typeof callerOf>>; readonly call: number },
    signal: AbortSignal,
  ): Promise<Failure | null> {
    forgetEnded();
    const { signal: reigning } = reign;
    const absent = new Promise<Failure>((resolve, reject) => {
      const look = () => {
        const reason = absence(view(), allocation);
        if (reason !== null) return resolve({ exitCode: 1, reason });
        if (reigning.aborted) return reject(gone());
        if (!signal.aborted) clock.after(LOOK_EVERY, look);
      };
      look();
    });
    return Promise.race([meetings.follow(caller, call), absent]);
  }

  function forgetEnded(): void {
    for (const attempt of meetings.attempts()) {
      const [id = "", number] = attempt.split(".");
      const record = view().allocation(id as AllocationId);
      if (record === undefined || record.attempt !== Number(number) || !isPlaced(record.phase))
        meetings.forget(attempt);
    }
  }

  function liveOf(allocationId: string, launchId: string): Launch {
    const found = live.get(launchId);
    if (found === undefined || found.allocation !== allocationId) throw unknownLaunch(allocationId, launchId);
    return found.launch;
  }

  function input(request: pb.SendTaskInputRequest): void {
    if (!liveOf(request.allocationId, request.launchId).input(request))
      throw new ProblemError("rate_limited", {
        detail: "The first task's node is away, and too much input waits for it.",
      });
  }

  function tell({ allocationId, launchId, taken, end, over }: pb.TellLaunchRequest): void {
    const found = liveOf(allocationId, launchId);
    found.taken(taken);
    if (end && over) abandon(found);
    else if (end) found.fail(ENDED_ON_REQUEST);
    else if (over) forget(found);
  }

  function receive(call: RunTasksCall, stranger: (node: string) => string | null): void {
    let joined: { readonly launch: Launch; readonly node: string } | null = null;
    const stream: NodeStream = {
      send: (order) => void call.write(create(pb.TasksOrderSchema, { order })),
      end: () => call.end(),
      drop: () => void call.emit("error", { code: status.UNAVAILABLE, details: "another server leads" }),
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
    const found = hello === null ? undefined : (live.get(hello.launchId)?.launch ?? takeUp(hello)?.launch);
    if (hello !== null && found?.attach(hello.nodeId, stream, hello.repeats) === true)
      return { launch: found, node: hello.nodeId };
    call.emit("error", { code: status.NOT_FOUND, details: "there is no such launch" });
    return null;
  }

  /** A launch of an earlier leader. Undefined: there is nothing to go on with. */
  function takeUp({ launchId, nodeId, ticket }: pb.TasksHello): Live | undefined {
    const allocation = view().allocation((ticket?.allocationId ?? "") as AllocationId);
    if (ticket === undefined || allocation === undefined || !belongs(allocation, launchId, nodeId, ticket))
      return undefined;
    const shares = ticket.layout.map(({ node, firstRank, tasks }) => ({ node, firstRank, tasks }));
    const { call = null, fabricService: service } = ticket;
    const made = add(launchId, allocation, shares, { returns: true, takenUp: true, call, service });
    parts.takenUp();
    const first = isPlaced(allocation.phase) ? (allocation.phase.nodes[0] ?? "") : "";
    if (call !== null) meetings.takeUp(`${allocation.id}.${allocation.attempt}`, first, call, made.launch.ended);
    return made;
  }

  return {
    launch,
    input,
    tell,
    receive,
    leave() {
      reign.abort();
      reign = new AbortController();
      for (const { launch: each } of live.values()) each.leave();
      live.clear();
      for (const attempt of meetings.attempts()) meetings.forget(attempt);
    },
    get count() {
      return live.size;
    },
  };
}

interface Live {
  readonly launch: Launch;
  readonly allocation: AllocationId;
  readonly returns: boolean;
  readonly call: number | null;
}

interface Kind {
  readonly returns: boolean;
  readonly takenUp: boolean;
  /** Among those of the job's script; null: it is none of them. */
  readonly call: number | null;
  /** Of the network, to be given back; "": none. */
  readonly service: string;
}

interface Beginning extends Pick<Kind, "returns" | "call"> {
  readonly signal: AbortSignal;
}

interface Arrival {
  readonly call: RunTasksCall;
  readonly stream: NodeStream;
  readonly stranger: (node: string) => string | null;
}

const LOOK_EVERY = duration(500);
