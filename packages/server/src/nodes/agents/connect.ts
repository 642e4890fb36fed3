// The leader's end of an agent's Connect stream. Hello registers the node (through the log, when anything about it
// changed), Welcome answers, and the node then receives the orders of its claims. Reports become commands and are
// acknowledged once committed; until then they are retried, because the agent must not forget a report that the log
// does not have.

import { isIPv4 } from "node:net";
import { create } from "@bufbuild/protobuf";
import {
  agreeOnProtocol,
  attempt,
  type CheckpointClearedCommand,
  type Claim,
  type ClearNoticeCommand,
  duration,
  isPlaced,
  LOG_START,
  type NodeHealthCommand,
  type NodeId,
  noticeKey,
  PROTOCOL,
  type ProtocolAgreement,
  parseAllocationId,
  protocolRange,
  type RegisterNodeCommand,
  type ReportCommand,
  type View,
} from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../base/clock.ts";
import type { Committed } from "../../state/committed.ts";
import type { CheckpointBoard } from "./checkpoint-board.ts";
import { checkpointOrdersOf } from "./checkpoint-order.ts";
import type { AgentHub, AgentSession, ServerMessageBody } from "./hub.ts";
import type { JobToken } from "./job-token.ts";
import { type AgentJudge, judgeAgent } from "./judge-agent.ts";
import { forgetOrder, orderOf, stopOrder } from "./orders.ts";
import { changes, differs, hardwareVerdict, registration } from "./registration.ts";
import { type FailureRules, reportCommand } from "./report-command.ts";

/** Pause before a report is proposed again. */
const REPORT_RETRY = duration(500);
/** More than an uplink has. */
const MAX_UPLINK_ADDRESSES = 8;

type AgentCommand =
  | ClearNoticeCommand
  | RegisterNodeCommand
  | ReportCommand
  | NodeHealthCommand
  | CheckpointClearedCommand;

export interface ConnectContext extends AgentJudge {
  readonly propose: (command: AgentCommand) => Promise<Committed>;
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverVersion: string;
  readonly heartbeatIntervalMs: number;
  /** Callers of the API prove who they are. Default: they do not. */
  readonly callersAuthenticated?: boolean;
  /** Returns why the stream may not act for the node, or null. */
  readonly refusal: (call: object, node: string) => string | null;
  /** Returns where the node is reached; empty when that is not known. Default: not known. */
  readonly addressOf?: (call: object, node: NodeId) => string;
  readonly imagesAnswered?: (node: NodeId, answer: pb.ImageAnswer) => void;
  readonly measured?: (node: NodeId, measures: readonly pb.AttemptMeasures[]) => void;
  readonly sampled?: (node: NodeId, samples: readonly pb.AttemptMeasures[]) => void;
  /** Default: the default settings. */
  readonly failures?: () => FailureRules;
  readonly checkpoints?: Pick<CheckpointBoard, "recordProgress" | "recordStorage">;
  /** Returns the URL of the API for programs inside a job. */
  readonly apiUrl?: () => string;
  /** Creates the token of a job. Default: jobs have none. */
  readonly jobToken?: JobToken;
}

/** The part of the gRPC stream that is used here. */
export interface ConnectCall {
  write(message: pb.ServerMessage): unknown;
  end(): unknown;
  on(event: "data", listener: (message: pb.AgentMessage) => void): unknown;
  on(event: "end" | "error" | "cancelled", listener: () => void): unknown;
}

export function handleConnect(context: ConnectContext, call: ConnectCall): void {
  const stream = new AgentStream(context, call);
  call.on("data", (message) => stream.receive(message.message));
  call.on("end", () => stream.end());
  call.on("error", () => stream.leave());
  call.on("cancelled", () => stream.leave());
}

/** One Connect stream, from its hello to its end. */
class AgentStream {
  readonly #context: ConnectContext;
  readonly #call: ConnectCall;
  readonly #gone = new AbortController();
  #hello: pb.Hello | null = null;
  /** Allocations whose checkpoints this node was ordered to remove. */
  readonly #clearing = new Set<string>();
  /** Set once the node is registered and welcomed. */
  #session: AgentSession | null = null;

  constructor(context: ConnectContext, call: ConnectCall) {
    this.#context = context;
    this.#call = call;
  }

  receive(body: pb.AgentMessage["message"]): void {
    if (this.#hello === null) {
      if (body.case !== "hello") {
        this.#refuse("invalid_argument", "the first message of a stream must be a hello");
        return;
      }
      this.#hello = body.value;
      void this.#register(body.value);
      return;
    }
    const session = this.#session;
    if (session === null) return;
    const { node } = session;
    if (body.case === "heartbeat") this.#onHeartbeat(session, body.value);
    if (body.case === "report") void this.#report(node, body.value);
    if (body.case === "condition") void this.#onCondition(session, this.#hello, body.value);
    if (body.case === "samples") this.#onSamples(node, body.value.samples);
    if (body.case === "imageAnswer") this.#context.imagesAnswered?.(node, body.value);
    if (body.case === "checkpointProgress") this.#context.checkpoints?.recordProgress(node, body.value);
    if (body.case === "clearAnswer" && body.value.accepted) void this.#onCleared(node, body.value.allocationId);
  }

  end(): void {
    this.leave();
    this.#call.end();
  }

  leave(): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort("the stream has ended");
    if (this.#session !== null) this.#context.hub.remove(this.#session);
  }

  #send(message: ServerMessageBody): void {
    if (this.#gone.signal.aborted) return;
    if (message.case === "clearCheckpoints") this.#clearing.add(message.value.allocationId);
    const log = this.#context.chain?.last() ?? LOG_START;
    this.#call.write(create(pb.ServerMessageSchema, { message: this.#withJobToken(message), log }));
  }

  /** Job tokens are created when the order is sent, and never enter the log. */
  #withJobToken(message: ServerMessageBody): ServerMessageBody {
    const { jobToken } = this.#context;
    if (message.case !== "run" || jobToken === undefined) return message;
    return { case: "run", value: { ...message.value, apiToken: jobToken(message.value) } };
  }

  #refuse(code: string, detail: string): void {
    this.#send({ case: "refused", value: create(pb.RefusedSchema, { code, detail }) });
    this.end();
  }

  /** An agent does not state its own address: services are proxied there. */
  #registration(hello: pb.Hello): RegisterNodeCommand | string {
    const command = registration(hello);
    if (typeof command === "string") return command;
    return { ...command, address: this.#context.addressOf?.(this.#call, command.node) ?? "" };
  }

  async #register(hello: pb.Hello): Promise<void> {
    const context = this.#context;
    const command = this.#registration(hello);
    if (typeof command === "string") return this.#refuse("invalid_argument", command);
    const refusal = context.refusal(this.#call, command.node);
    if (refusal !== null) return this.#refuse("unauthenticated", refusal);
    const protocol = agreeOnProtocol(PROTOCOL, protocolRange(hello.protocolVersion));
    if (protocol.kind === "apart") return this.#refuse(`protocol_${protocol.theirs}`, protocolApart(protocol));
    const identityRefusal = await judgeAgent(context, hello, this.#gone.signal);
    if (identityRefusal !== null) return this.#refuse(identityRefusal.code, identityRefusal.detail);
    const before = context.view().node(command.node);
    try {
      if (changes(before, command)) {
        const { outcome } = await context.propose(command);
        if (outcome.kind === "rejected") return this.#refuse(outcome.refusal.code, outcome.refusal.detail);
      }
    } catch (error) {
      return this.#refuse("log_unavailable", error instanceof Error ? error.message : String(error));
    }
    if (this.#gone.signal.aborted) return;
    this.#welcome(command.node, protocol.version, hello);
    void this.#clearForeign(command.node);
    const rebooted = before !== undefined && before.bootId !== command.bootId;
    this.#reconcile({ node: command.node, rebooted, running: hello.attempts });
  }

  /** An agent of this cluster serves the node now. */
  async #clearForeign(node: NodeId): Promise<void> {
    const { view, propose, logger } = this.#context;
    const key = noticeKey("foreign_cluster", node);
    const notice = view().notice(key);
    if (notice === undefined || notice.clearedAt !== undefined) return;
    await propose({ kind: "notice.clear", key }).catch((error: unknown) =>
      logger.warn({ err: error, node }, "notice of a foreign agent not cleared yet"),
    );
  }

  #welcome(node: NodeId, protocol: number, hello: pb.Hello): void {
    const { peerAddress: peer, overlayAddresses, knownLog = LOG_START } = hello;
    const { hub, serverVersion, heartbeatIntervalMs, apiUrl, callersAuthenticated = false, chain } = this.#context;
    this.#session = {
      node,
      protocol,
      peer,
      overlay: overlayAddresses.filter(isIPv4).slice(0, MAX_UPLINK_ADDRESSES),
      send: (message) => this.#send(message),
      end: (reason) => this.#refuse("closed", reason),
    };
    hub.add(this.#session);
    const { identity } = this.#context.view();
    const known = chain?.at(knownLog.index);
    const welcome = create(pb.WelcomeSchema, {
      protocolVersion: protocol,
      serverVersion,
      heartbeatIntervalMs,
      callersAuthenticated,
      apiUrl: apiUrl?.() ?? "",
      clusterId: identity?.id ?? "",
      clusterGeneration: identity?.generation ?? 0,
      formerClusterIds: [...(identity?.former ?? [])],
      ...(known === undefined ? {} : { knownLog: known, logKeptFrom: known.keptFrom }),
    });
    this.#send({ case: "welcome", value: welcome });
  }

  /** Sends the orders of the node's claims, and stops attempts that have no claim. */
  #reconcile({ node, rebooted, running }: Returning): void {
    const view = this.#context.view();
    const claims = view.node(node)?.claims ?? [];
    for (const claim of claims) {
      const known = running.some((status) => matches(claim, status));
      if (!known && mayHaveStarted(view, node, claim, rebooted)) {
        void this.#commit(lost(node, claim));
        continue;
      }
      const order = orderOf(view, node, claim);
      // The node continues what it runs: ten thousand returning nodes need no repeated run orders.
      if (order !== null && !(known && order.case === "run")) this.#send(order);
    }
    // Requested while the node was disconnected, or not answered yet.
    for (const order of checkpointOrdersOf(view, node)) this.#send(order);
    for (const status of running) {
      const allocation = parseAllocationId(status.allocationId);
      if (allocation === null || claims.some((claim) => matches(claim, status))) continue;
      const ended = status.state === pb.AllocationState.COMPLETED || status.state === pb.AllocationState.FAILED;
      this.#disown({ allocation, attempt: attempt(status.attempt) }, ended);
    }
  }

  #onHeartbeat(session: AgentSession, heartbeat: pb.Heartbeat): void {
    const { hub, checkpoints, measured } = this.#context;
    const { sequence, measures, echo, logBytesWaiting: waiting, logBytesDropped: dropped } = heartbeat;
    checkpoints?.recordStorage(session.node, heartbeat.checkpointStorageError);
    hub.heard(session, sequence);
    const own = this.#ofClaims(session.node, measures);
    if (own.length > 0) measured?.(session.node, own);
    hub.recordOutput(session, { waiting, dropped });
    if (heartbeat.certificateEndsMs > 0) hub.recordCertificate(session, heartbeat.certificateEndsMs);
    if (echo) this.#send({ case: "heartbeatEcho", value: create(pb.HeartbeatEchoSchema, { sequence }) });
  }

  #onSamples(node: NodeId, samples: readonly pb.AttemptMeasures[]): void {
    this.#context.sampled?.(node, this.#ofClaims(node, samples));
  }

  /** A node reports figures of its own attempts only. */
  #ofClaims(node: NodeId, figures: readonly pb.AttemptMeasures[]): readonly pb.AttemptMeasures[] {
    const claims = this.#context.view().node(node)?.claims ?? [];
    return figures.filter((figure) => claims.some((claim) => matches(claim, figure)));
  }

  /** A clearing that cannot be recorded now is ordered again. */
  async #onCleared(node: NodeId, allocationId: string): Promise<void> {
    const allocation = parseAllocationId(allocationId);
    // A node answers for the clearings that it was ordered to carry out.
    if (allocation === null || !this.#clearing.delete(allocationId)) return;
    try {
      await this.#context.propose({ kind: "checkpoint.cleared", allocations: [allocation] });
    } catch (error) {
      this.#context.logger.warn({ err: error, node, allocation }, "removal of checkpoints not recorded yet");
    }
  }

  /** A condition that cannot be recorded now comes again: with the next hello, or with the next check of the node. */
  async #onCondition(session: AgentSession, hello: pb.Hello, condition: pb.ConditionReport): Promise<void> {
    const { view, propose, hub, logger } = this.#context;
    const { conformance, capabilities = hello.capabilities } = condition;
    const command = this.#registration({
      ...hello,
      conformance,
      ...(capabilities === undefined ? {} : { capabilities }),
    });
    try {
      if (typeof command === "string") throw new Error(command);
      hub.recordFingerprint(session);
      if (differs(view().node(session.node), command)) await propose(command);
      const broken = hardwareVerdict(view().node(session.node), condition.faults);
      if (broken !== null) await propose(broken);
    } catch (error) {
      logger.warn({ err: error, node: session.node }, "node condition not recorded");
    }
  }

  async #report(node: NodeId, message: pb.Report): Promise<void> {
    const { clock, failures } = this.#context;
    const command = reportCommand(message, { node, now: clock.now(), rules: failures?.() });
    if (command === null) this.#context.logger.warn({ node }, "malformed agent report dropped");
    else await this.#commit(command);
    this.#send({ case: "ack", value: create(pb.ReportAckSchema, { number: message.number }) });
  }

  /** Retries until the log has the report or the stream is gone; the agent then repeats the report. */
  async #commit(command: ReportCommand): Promise<void> {
    const { propose, logger, clock } = this.#context;
    while (!this.#gone.signal.aborted) {
      try {
        const { outcome } = await propose(command);
        if (outcome.kind === "accepted") return;
        logger.info({ node: command.node, report: command, refusal: outcome.refusal }, "agent report rejected");
        return this.#disown(command, command.state === "completed" || command.state === "failed");
      } catch (error) {
        logger.warn({ err: error, node: command.node }, "agent report not committed yet: retrying");
        await sleep(clock, REPORT_RETRY, this.#gone.signal);
      }
    }
  }

  /** Without a claim, the agent may forget a finished attempt and must stop a live one. */
  #disown({ allocation, attempt: number }: Pick<Claim, "allocation" | "attempt">, ended: boolean): void {
    const reason = "this attempt no longer belongs to this node";
    this.#send(ended ? forgetOrder(allocation, number) : stopOrder({ allocation, attempt: number }, reason));
  }
}

interface Returning {
  readonly node: NodeId;
  readonly rebooted: boolean;
  /** Attempts that the agent knows, finished ones included. */
  readonly running: readonly pb.AttemptStatus[];
}

/**
 * Whether an attempt that the agent does not know may have started: ordering it again could then start it twice. After a
 * reboot even an unacknowledged order may have been carried out.
 */
function mayHaveStarted(view: View, node: NodeId, claim: Claim, rebooted: boolean): boolean {
  const allocation = view.allocation(claim.allocation);
  if (claim.releasing || allocation === undefined || !isPlaced(allocation.phase)) return false;
  const progress = allocation.phase.progress[allocation.phase.nodes.indexOf(node)]?.state;
  return progress === "staging" || progress === "running" || (rebooted && progress === "ordered");
}

const lost = (node: NodeId, claim: Claim): ReportCommand => ({
  kind: "attempt.report",
  node,
  allocation: claim.allocation,
  attempt: claim.attempt,
  state: "failed",
  exitCode: null,
  reason: "lost",
  message: `node "${node}" reconnected without this attempt`,
});

const matches = (claim: Claim, status: Pick<pb.AttemptStatus, "allocationId" | "attempt">): boolean =>
  claim.allocation === status.allocationId && claim.attempt === status.attempt;

const protocolApart = ({ theirs, ranges }: Extract<ProtocolAgreement, { kind: "apart" }>): string =>
  `server and agent share no version of their protocol (${ranges}): upgrade the ${theirs === "too_old" ? "agent" : "servers"}`;
