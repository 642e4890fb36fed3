// Every launch of this leader, by its id: started by a caller, joined by the agents that received its order, ended with the caller.
// Launches are not in the log. After a change of leader agents report what they run, callers resume there, and a launch that cannot
// be adopted is ended.

import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  type Allocation,
  type AllocationId,
  duration,
  isPlaced,
  parseAllocationId,
  parseNodeId,
  type UserName,
  type View,
} from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { isCallerGone } from "../../base/caller-gone.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { createSeats } from "../../base/seats.ts";
import type { AgentHub } from "../agents/hub.ts";
import type { FabricManager } from "../fabric/credentials.ts";
import { type CollectiveCalls, createCollectiveCalls } from "./collective.ts";
import { fencePlaces } from "./fence-tree.ts";
import { type AskNames, Launch, type NodeStream } from "./launch.ts";
import { CALLER_WITHIN, ENDED_BY_CALLER, ENDED_ON_REQUEST, type Positions } from "./launch-state.ts";
import type { NodeShare } from "./layout.ts";
import {
  allocationNamed,
  callerOf,
  cxiOf,
  endResponse,
  isLaunchOf,
  launchObstacle,
  notLeader,
  type ScriptCaller,
  ticketOf,
  unknownLaunch,
  unreachable,
} from "./lookup.ts";
import { createNameDirectory } from "./names.ts";
import type { LaunchFailure } from "./outcome.ts";
import { type LaunchPlan, planLaunch } from "./request.ts";
import { stepNumbers } from "./steps.ts";

interface LaunchesParts {
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly view: () => View;
  /** `null` when launches need no credentials of a network. */
  readonly fabric: FabricManager | null;
  /** Launches on more nodes exchange addresses among their agents. */
  readonly starNodes: () => number;
  /** URLs of the APIs of all servers. */
  readonly servers: () => readonly string[];
  readonly ended: (result: "completed" | "failed", tasks: number) => void;
  /** Called for each launch that an earlier leader had started. */
  readonly adopted: () => void;
  /** Launches of one user at a time. */
  readonly perUser: () => number;
  /** Called for each launch that `perUser` refuses. */
  readonly refused: () => void;
}

export type RunTasksCall = ServerDuplexStream<pb.TasksReport, pb.TasksOrder>;

/** How the caller of a launch reads it. */
interface Listener {
  /** Its reason tells a caller that disconnected, whose launch ends, from one that was cut off and may return. */
  readonly signal: AbortSignal;
}

interface ActiveLaunch {
  readonly launch: Launch;
  readonly allocation: AllocationId;
  readonly resumable: boolean;
  /** Its number among the calls of the job script; `null` for a caller outside of it. */
  readonly call: number | null;
  /** Frees its place among the launches of its user. */
  readonly release: () => void;
}

interface LaunchKind extends Pick<ActiveLaunch, "resumable" | "call" | "release"> {
  readonly adopted: boolean;
  /** The network service to revoke at the end; "" without one. */
  readonly service: string;
}

/** Of all users: bounds the memory of the leader. */
const MAX_LAUNCHES = 10_000;
/** How long the end is kept for a caller that does not acknowledge it. */
const END_KEPT = duration(10_000);
const POLL_INTERVAL = duration(500);
const FROM_THE_START: Positions = [];

export class Launches {
  readonly #parts: LaunchesParts;
  readonly #active = new Map<string, ActiveLaunch>();
  readonly #calls: CollectiveCalls = createCollectiveCalls();
  readonly #names;
  readonly #nextStep = stepNumbers();
  /** Running and starting launches by user. */
  readonly #seats = createSeats();
  /** Aborted when this server stops leading. */
  #term = new AbortController();

  constructor(parts: LaunchesParts) {
    this.#parts = parts;
    this.#names = createNameDirectory(parts.clock);
  }

  get count(): number {
    return this.#active.size;
  }

  /** Starts or resumes a launch for an authorized caller; lasts until the launch has ended or the signal fires. */
  async *launch(request: pb.LaunchTasksRequest, listener: Listener): AsyncGenerator<pb.LaunchTasksResponse> {
    const { view } = this.#parts;
    const allocation = allocationNamed(view(), request.allocationId);
    const caller = callerOf(allocation, request);
    if (caller !== null && !caller.isFirst) {
      yield* this.#follow(allocation, caller, request, listener.signal);
      return;
    }
    if (request.resume !== undefined) {
      const { launchId, positions } = request.resume;
      yield* this.#watch(await this.#findAgain(allocation, launchId, listener.signal), positions, listener);
      return;
    }
    const plan = planLaunch(view(), allocation, request);
    const release = this.#seatFor(allocation.user);
    const call = caller === null ? null : this.#calls.next(caller);
    const { resumable } = request;
    const starting = this.#start(plan, allocation, { resumable, call, release }, listener.signal);
    const started = await starting.catch((error: unknown) => {
      release();
      throw error;
    });
    if (caller !== null) this.#calls.lead(caller, started.launch.ended);
    yield* this.#watch(started, FROM_THE_START, listener);
  }

  input(request: pb.SendTaskInputRequest): void {
    if (!this.#find(request.allocationId, request.launchId).input(request))
      throw new ProblemError("rate_limited", {
        detail: "The node of the first task is not connected, and its input buffer is full.",
      });
  }

  /** Acknowledges events, kills tasks or forgets the launch, as its caller asks. */
  control({ allocationId, launchId, acknowledged, end, finished }: pb.ControlLaunchRequest): void {
    const found = this.#find(allocationId, launchId);
    found.acknowledge(acknowledged);
    if (end && finished) abandon(found);
    else if (end) found.fail(ENDED_ON_REQUEST);
    else if (finished) this.#forget(found);
  }

  /** Handles RunTasks. `refusal(node)` returns why the stream may not act for the node, or `null`. */
  receive(call: RunTasksCall, refusal: (node: string) => string | null): void {
    let joined: { readonly launch: Launch; readonly node: string } | null = null;
    const stream: NodeStream = {
      send: (order) => void call.write(create(pb.TasksOrderSchema, { order })),
      end: () => call.end(),
      drop: () => void call.emit("error", { code: status.UNAVAILABLE, details: "another server leads" }),
    };
    call.on("data", (report: pb.TasksReport) => {
      joined ??= this.#join(stream, refusal, report);
      if (joined === null) call.emit("error", { code: status.NOT_FOUND, details: "there is no such launch" });
      joined?.launch.report(joined.node, report);
    });
    const detach = () => {
      joined?.launch.detach(joined.node, stream);
    };
    call.on("end", () => {
      detach();
      call.end();
    });
    call.on("error", detach);
    call.on("cancelled", detach);
  }

  /** This server no longer leads: sends every node and caller to the new leader. */
  leave(): void {
    this.#term.abort();
    this.#term = new AbortController();
    for (const { launch, release } of this.#active.values()) {
      launch.leave();
      release();
    }
    this.#active.clear();
    for (const attempt of this.#calls.attempts()) this.#calls.forget(attempt);
  }

  #seatFor(user: UserName): () => void {
    const perUser = this.#parts.perUser();
    const own = this.#seats.of(user);
    if (own >= perUser) {
      this.#parts.refused();
      throw new ProblemError("rate_limited", {
        detail: `${user} has ${own} running launches, and ${perUser} is the most for a user.`,
        hint: "Wait until one has ended; an administrator can raise rate_limits.launch_max_concurrent.",
      });
    }
    if (this.#seats.count >= MAX_LAUNCHES)
      throw new ProblemError("rate_limited", { detail: `${this.#seats.count} launches are already running.` });
    return this.#seats.take(user);
  }

  async #start(
    plan: LaunchPlan,
    allocation: Allocation,
    { resumable, call, release }: Pick<LaunchKind, "resumable" | "call" | "release">,
    signal: AbortSignal,
  ): Promise<ActiveLaunch> {
    const { hub, clock, fabric, starNodes } = this.#parts;
    const away = plan.shares.find(({ node }) => !hub.connected(node));
    if (away !== undefined) throw unreachable(away.node);
    const attempt = `${allocation.id}.${allocation.attempt}`;
    const id = `${attempt}.${clock.now().toString(36)}.${this.#nextStep(attempt)}`;
    const nodes = plan.shares.map(({ node }) => node);
    const request = { name: id, allocationId: allocation.id, nodes, vni: allocation.network?.vni ?? null };
    const credentials = fabric === null ? null : await fabric.issue(request, signal);
    const service = credentials?.serviceId ?? "";
    const started = this.#add(id, allocation, plan.shares, { resumable, adopted: false, call, service, release });
    const addresses = nodes.map((node) => hub.peer(node));
    const places = fencePlaces({ addresses, nodes, starNodes: starNodes(), key: randomUUID() });
    const ticket = resumable ? ticketOf(allocation, plan, call, credentials) : null;
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
      hub.send(node, { case: "startTasks", value });
    }
    return started;
  }

  #add(id: string, allocation: Allocation, shares: readonly NodeShare[], kind: LaunchKind): ActiveLaunch {
    const { clock, fabric, ended } = this.#parts;
    const { resumable, adopted, call, service, release } = kind;
    const asker = { attempt: `${allocation.id}.${allocation.attempt}`, launch: id };
    const askNames: AskNames = (question, answered) => this.#names.ask(asker, question, answered);
    const discarded = () => this.#forget(launch);
    const launch: Launch = new Launch(id, { shares, clock, askNames, resumable, adopted, discarded });
    const entry: ActiveLaunch = { launch, allocation: allocation.id, resumable, call, release };
    this.#active.set(id, entry);
    void launch.ended.then((failure) => {
      this.#names.forget(id);
      if (service !== "") void fabric?.revoke(service);
      const tasks = shares.reduce((sum, share) => sum + share.tasks, 0);
      ended(failure === null ? "completed" : "failed", tasks);
    });
    return entry;
  }

  async *#watch(active: ActiveLaunch, from: Positions, { signal }: Listener) {
    const { launch, resumable, call } = active;
    const { clock, servers } = this.#parts;
    const layout = launch.shares.map((share) => create(pb.NodeTasksSchema, share));
    const value = create(pb.LaunchStartedSchema, {
      launchId: launch.id,
      layout,
      call: call ?? 0,
      servers: [...servers()],
    });
    const events = launch.events(from, signal);
    let isComplete = false;
    try {
      yield create(pb.LaunchTasksResponseSchema, { event: { case: "started", value } });
      yield* events;
      isComplete = !signal.aborted;
    } finally {
      if (this.#active.get(launch.id)?.launch === launch && launch.isRead(events)) {
        if (isComplete && resumable) clock.after(END_KEPT, () => launch.isRead(events) && this.#forget(launch));
        else if (isComplete) this.#forget(launch);
        else if (resumable && signal.aborted && !isCallerGone(signal)) launch.awaitCaller();
        else abandon(launch);
      }
    }
  }

  #forget(launch: Launch): void {
    if (this.#active.get(launch.id)?.launch !== launch) return;
    launch.close();
    this.#active.get(launch.id)?.release();
    this.#active.delete(launch.id);
  }

  #find(allocationId: string, launchId: string): Launch {
    const found = this.#active.get(launchId);
    if (found === undefined || found.allocation !== allocationId) throw unknownLaunch(allocationId, launchId);
    return found.launch;
  }

  /** After a change of leader a caller may arrive before the agents that run its launch. */
  async #findAgain(allocation: Allocation, launchId: string, signal: AbortSignal): Promise<ActiveLaunch> {
    for (let waited = 0; ; waited += POLL_INTERVAL) {
      const found = this.#active.get(launchId);
      const fits = found?.allocation === allocation.id && found.resumable && found.launch.canResume();
      if (found !== undefined && fits) return found;
      if (found !== undefined || waited >= CALLER_WITHIN) throw unknownLaunch(allocation.id, launchId);
      const term = this.#term.signal;
      await sleep(this.#parts.clock, POLL_INTERVAL, AbortSignal.any([signal, term]));
      if (term.aborted) throw notLeader();
      if (signal.aborted) throw unknownLaunch(allocation.id, launchId);
    }
  }

  /** A call of another node than the first: waits for the first node's launch. */
  async *#follow(
    allocation: Allocation,
    caller: ScriptCaller,
    { resumable, resume }: pb.LaunchTasksRequest,
    signal: AbortSignal,
  ) {
    const call = resume?.call ?? this.#calls.next(caller);
    this.#forgetEndedAttempts();
    const outcome = Promise.race([this.#calls.follow(caller, call), this.#noLaunch(allocation, signal)]);
    outcome.catch(() => undefined);
    const value = create(pb.LaunchStartedSchema, { call, servers: [...this.#parts.servers()] });
    if (resumable) yield create(pb.LaunchTasksResponseSchema, { event: { case: "started", value } });
    yield endResponse(await outcome);
  }

  /** Resolves when the script on the first node has ended without the launch. */
  #noLaunch(allocation: Allocation, signal: AbortSignal): Promise<LaunchFailure> {
    const { clock, view } = this.#parts;
    const term = this.#term.signal;
    return new Promise<LaunchFailure>((resolve, reject) => {
      const poll = () => {
        const reason = launchObstacle(view(), allocation);
        if (reason !== null) return resolve({ exitCode: 1, reason });
        if (term.aborted) return reject(notLeader());
        if (!signal.aborted) clock.after(POLL_INTERVAL, poll);
      };
      poll();
    });
  }

  #forgetEndedAttempts(): void {
    for (const attempt of this.#calls.attempts()) {
      const [id = "", number] = attempt.split(".");
      const record = allocationById(this.#parts.view(), id);
      if (record === undefined || record.attempt !== Number(number) || !isPlaced(record.phase))
        this.#calls.forget(attempt);
    }
  }

  #join(stream: NodeStream, refusal: (node: string) => string | null, { report }: pb.TasksReport) {
    const hello = report.case === "hello" && refusal(report.value.nodeId) === null ? report.value : null;
    if (hello === null) return null;
    const launch = this.#active.get(hello.launchId)?.launch ?? this.#adopt(hello)?.launch;
    return launch?.attach(hello.nodeId, stream, hello.repeats) === true ? { launch, node: hello.nodeId } : null;
  }

  /** Continues a launch of an earlier leader. Returns `undefined` when its allocation no longer has it. */
  #adopt({ launchId, nodeId, ticket }: pb.TasksHello): ActiveLaunch | undefined {
    const allocation = allocationById(this.#parts.view(), ticket?.allocationId ?? "");
    if (ticket === undefined || allocation === undefined || !isLaunchOf(allocation, launchId, nodeId, ticket))
      return undefined;
    const shares = ticket.layout.flatMap(({ node: name, firstRank, tasks }) => {
      const node = parseNodeId(name);
      return node === null ? [] : [{ node, firstRank, tasks }];
    });
    const { call = null, fabricService: service } = ticket;
    // It runs already, so no limit refuses it.
    const release = this.#seats.take(allocation.user);
    const adopted = this.#add(launchId, allocation, shares, { resumable: true, adopted: true, call, service, release });
    this.#parts.adopted();
    const first = isPlaced(allocation.phase) ? (allocation.phase.nodes[0] ?? "") : "";
    if (call !== null) this.#calls.adopt(`${allocation.id}.${allocation.attempt}`, first, call, adopted.launch.ended);
    return adopted;
  }
}

/** Kills the tasks, and drops what they still report so that they can end. */
function abandon(launch: Launch): void {
  launch.fail(ENDED_BY_CALLER);
  launch.discard();
}

function allocationById(view: View, id: string): Allocation | undefined {
  const parsed = parseAllocationId(id);
  return parsed === null ? undefined : view.allocation(parsed);
}
