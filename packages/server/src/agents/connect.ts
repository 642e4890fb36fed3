// The server's end of an agent's Connect stream. Hello registers the node (through the log, when
// anything about it changed), Welcome answers it, and the node is then told everything its claims
// stand for. Reports become commands and are acknowledged once committed; until then they are
// tried again, because the agent must not forget what the log does not know.

import { create } from "@bufbuild/protobuf";
import {
  type AllocationId,
  agreeOnProtocol,
  attempt,
  type Capabilities,
  type Claim,
  type ClearedCommand,
  duration,
  isPlaced,
  type Node,
  type NodeHealthCommand,
  type NodeId,
  PROTOCOL,
  type ProtocolAgreement,
  parseAllocationId,
  parseGroupId,
  parseNodeId,
  parseVClusterId,
  protocolRange,
  type Refusal,
  type RegisterNodeCommand,
  type ReportCommand,
  type View,
} from "@lattice/core";
import { capabilitiesFromProto, pb } from "@lattice/wire";
import type { Logger } from "pino";
import type { CheckpointBoard } from "../checkpoint/board.ts";
import { type Clock, sleep } from "../clock.ts";
import type { Proposal } from "../leader/sequencer.ts";
import { checkpointOrdersOf } from "./checkpoint-order.ts";
import type { AgentHub, AgentSession, ServerMessageBody } from "./hub.ts";
import type { JobToken } from "./job-token.ts";
import { forgetOrder, orderOf, stopOrder } from "./orders.ts";
import { type FailureRules, reportCommand } from "./report-command.ts";

/** Pause before a report is proposed again after the log refused it. */
const REPORT_RETRY = duration(500);

type AgentCommand = RegisterNodeCommand | ReportCommand | NodeHealthCommand | ClearedCommand;

export interface ConnectContext {
  readonly view: () => View;
  readonly propose: (command: AgentCommand) => Promise<Proposal>;
  readonly hub: AgentHub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverVersion: string;
  readonly heartbeatIntervalMs: number;
  /** Null: whoever opened this stream may speak for the node; else why not. */
  readonly stranger: (call: object, node: string) => string | null;
  /** Whoever asked the agent about images. */
  readonly imagesAnswered?: (node: NodeId, answer: pb.ImageAnswer) => void;
  /** What an agent has measured of the attempts it runs. */
  readonly measured?: (node: NodeId, measures: readonly pb.AttemptMeasures[]) => void;
  /** Samples of what attempts of the node use. */
  readonly sampled?: (node: NodeId, samples: readonly pb.AttemptMeasures[]) => void;
  /** What the configuration says of failures; absent: the usual. */
  readonly failures?: () => FailureRules;
  /** What is heard of checkpoints besides reports. */
  readonly checkpoints?: Pick<CheckpointBoard, "told" | "storage">;
  /** Where programs inside a job reach the API. */
  readonly apiUrl?: () => string;
  /** The identity that a job is given; absent: none. */
  readonly jobToken?: JobToken;
}

/** What is needed of the server's end of the stream. */
export interface ConnectCall {
  write(message: pb.ServerMessage): unknown;
  end(): unknown;
  on(event: "data", listener: (message: pb.AgentMessage) => void): unknown;
  on(event: "end" | "error" | "cancelled", listener: () => void): unknown;
}

export function handleConnect(context: ConnectContext, call: ConnectCall): void {
  let session: AgentSession | null = null;
  let greeted: pb.Hello | null = null;
  const gone = new AbortController();

  const send = (message: ServerMessageBody) => {
    if (!gone.signal.aborted) call.write(create(pb.ServerMessageSchema, { message: withIdentity(message) }));
  };
  /** A token is made when an order leaves, and is in no log. */
  const withIdentity = (message: ServerMessageBody): ServerMessageBody => {
    if (message.case !== "run" || context.jobToken === undefined) return message;
    return { case: "run", value: { ...message.value, apiToken: context.jobToken(message.value) } };
  };
  const leave = () => {
    if (gone.signal.aborted) return;
    gone.abort("the stream is gone");
    if (session !== null) context.hub.remove(session);
  };

  call.on("data", (message: pb.AgentMessage) => {
    const body = message.message;
    if (greeted === null) {
      if (body.case !== "hello") return refuse("invalid_argument", "the first message of a stream must be a hello");
      greeted = body.value;
      void greet(body.value);
      return;
    }
    if (session === null) return;
    if (body.case === "checkpointProgress") context.checkpoints?.told(session.node, body.value);
    if (body.case === "clearAnswer" && body.value.taken) void cleared(session.node, body.value.allocationId);
    if (body.case === "heartbeat") {
      context.checkpoints?.storage(session.node, body.value.checkpointStorageError);
      context.hub.heard(session, body.value.sequence);
      if (body.value.measures.length > 0) context.measured?.(session.node, body.value.measures);
      const { logBytesWaiting: waiting, logBytesDropped: dropped } = body.value;
      context.hub.told(session, { waiting, dropped });
      if (body.value.certificateEndsMs > 0) context.hub.certified(session, body.value.certificateEndsMs);
      const { echo, sequence } = body.value;
      if (echo) send({ case: "heartbeatEcho", value: create(pb.HeartbeatEchoSchema, { sequence }) });
    }
    if (body.case === "samples") sampled(session.node, body.value.samples);
    if (body.case === "report") void report(session, body.value);
    if (body.case === "condition") void renew(session, greeted, body.value);
    if (body.case === "imageAnswer") context.imagesAnswered?.(session.node, body.value);
  });
  call.on("end", () => {
    leave();
    call.end();
  });
  call.on("error", leave);
  call.on("cancelled", leave);

  /** What cannot be written now is asked of the node again. */
  async function cleared(node: NodeId, allocation: string): Promise<void> {
    const known = parseAllocationId(allocation);
    if (known === null) return;
    try {
      await context.propose({ kind: "checkpoints.cleared", allocations: [known] });
    } catch (error) {
      context.logger.warn({ err: error, node, allocation }, "who removes its checkpoints was not written down yet");
    }
  }

  /** A node speaks of its own attempts alone. */
  function sampled(node: NodeId, samples: readonly pb.AttemptMeasures[]): void {
    const claims = context.view().node(node)?.claims ?? [];
    context.sampled?.(
      node,
      samples.filter((sample) => claims.some((claim) => matches(claim, sample))),
    );
  }

  function refuse(code: string, detail: string): void {
    send({ case: "refused", value: create(pb.RefusedSchema, { code, detail }) });
    leave();
    call.end();
  }

  async function greet(hello: pb.Hello): Promise<void> {
    const command = registration(hello);
    if (typeof command === "string") return refuse("invalid_argument", command);
    const stranger = context.stranger(call, command.node);
    if (stranger !== null) return refuse("unauthenticated", stranger);
    const protocol = agreeOnProtocol(PROTOCOL, protocolRange(hello.protocolVersion));
    if (protocol.kind === "apart") return refuse(`protocol_${protocol.theirs}`, protocolApart(protocol));
    const before = context.view().node(command.node);
    try {
      if (changes(before, command)) {
        const { outcome } = await context.propose(command);
        if (outcome.kind === "rejected") return refuse(outcome.refusal.code, outcome.refusal.detail);
      }
    } catch (error) {
      return refuse("log_unavailable", error instanceof Error ? error.message : String(error));
    }
    if (gone.signal.aborted) return;
    session = {
      node: command.node,
      protocol: protocol.version,
      peer: hello.peerAddress,
      send,
      end: (reason) => {
        send({ case: "refused", value: create(pb.RefusedSchema, { code: "closed", detail: reason }) });
        leave();
        call.end();
      },
    };
    context.hub.add(session);
    send({
      case: "welcome",
      value: create(pb.WelcomeSchema, {
        protocolVersion: protocol.version,
        serverVersion: context.serverVersion,
        heartbeatIntervalMs: context.heartbeatIntervalMs,
        apiUrl: context.apiUrl?.() ?? "",
      }),
    });
    const rebooted = before !== undefined && before.bootId !== command.bootId;
    reconcile({ node: command.node, rebooted, held: hello.attempts }, send);
  }

  /** Tells the node what its claims stand for, and ends what it holds without a claim. */
  function reconcile({ node, rebooted, held }: Returning, tell: typeof send): void {
    const view = context.view();
    const claims = view.node(node)?.claims ?? [];
    for (const claim of claims) {
      const known = held.some((status) => matches(claim, status));
      if (!known && mayHaveBegun(view, node, claim, rebooted)) {
        void commit(lost(node, claim));
        continue;
      }
      const order = orderOf(view, node, claim);
      // What it holds it goes on with: ten thousand nodes that come back need not hear it all again.
      if (order !== null && !(known && order.case === "run")) tell(order);
    }
    // Asked for while it was away, or not answered yet.
    for (const order of checkpointOrdersOf(view, node)) tell(order);
    for (const status of held) {
      if (claims.some((claim) => matches(claim, status))) continue;
      const id = status.allocationId as AllocationId;
      const number = attempt(status.attempt);
      const over = status.state === pb.AllocationState.COMPLETED || status.state === pb.AllocationState.FAILED;
      tell(
        over
          ? forgetOrder(id, number)
          : stopOrder({ allocation: id, attempt: number }, "this attempt no longer belongs to this node"),
      );
    }
  }

  /** What cannot be written now is told again: the fingerprint in the next hello, a fault at the next look. */
  async function renew(from: AgentSession, hello: pb.Hello, told: pb.ConditionReport): Promise<void> {
    const { conformance, capabilities = hello.capabilities } = told;
    const command = registration({ ...hello, conformance, ...(capabilities === undefined ? {} : { capabilities }) });
    try {
      if (typeof command === "string") throw new Error(command);
      context.hub.renewed(from);
      const before = context.view().node(from.node);
      if (describes(before, command)) await context.propose(command);
      const broken = hardwareVerdict(context.view().node(from.node), told.faults);
      if (broken !== null) await context.propose(broken);
    } catch (error) {
      context.logger.warn({ err: error, node: from.node }, "what a node told of its condition was not taken");
    }
  }

  async function report(from: AgentSession, message: pb.Report): Promise<void> {
    const command = reportCommand(from.node, message, context.failures?.());
    if (command === null) context.logger.warn({ node: from.node }, "a report that makes no sense was dropped");
    else await commit(command);
    send({ case: "ack", value: create(pb.ReportAckSchema, { number: message.number }) });
  }

  /** Tries until the log has it or the stream is gone; then the agent brings it again. */
  async function commit(command: ReportCommand): Promise<void> {
    while (!gone.signal.aborted) {
      try {
        const { outcome } = await context.propose(command);
        if (outcome.kind === "rejected") disown(command, outcome.refusal);
        return;
      } catch (error) {
        context.logger.warn({ err: error, node: command.node }, "report not committed yet; trying again");
        await sleep(context.clock, REPORT_RETRY, gone.signal);
      }
    }
  }

  /** Its claim is gone: the agent may let go of a finished attempt, and must end a live one. */
  function disown(command: ReportCommand, refusal: Refusal): void {
    context.logger.info({ node: command.node, report: command, refusal }, "report not taken");
    const ended = command.state === "completed" || command.state === "failed";
    if (ended) send(forgetOrder(command.allocation, command.attempt));
    else send(stopOrder(command, "this attempt no longer belongs to this node"));
  }
}

interface Returning {
  readonly node: NodeId;
  readonly rebooted: boolean;
  readonly held: readonly pb.AttemptStatus[];
}

/**
 * The node does not hold an attempt that it may have begun: its memory of it is lost, and ordering
 * it again could start it twice. After a reboot even an unanswered order may have been begun.
 */
function mayHaveBegun(view: View, node: NodeId, claim: Claim, rebooted: boolean): boolean {
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
  message: `node "${node}" came back without any trace of it`,
});

const matches = (claim: Claim, status: Pick<pb.AttemptStatus, "allocationId" | "attempt">): boolean =>
  claim.allocation === status.allocationId && claim.attempt === status.attempt;

const protocolApart = ({ theirs, ranges }: Extract<ProtocolAgreement, { kind: "apart" }>): string =>
  `server and agent share no version of their protocol (${ranges}): upgrade the ${theirs === "too_old" ? "agent" : "servers"}`;

/** The command, or what is wrong with the hello. */
function registration(hello: pb.Hello): RegisterNodeCommand | string {
  const node = parseNodeId(hello.nodeId);
  if (node === null) return `node_id "${hello.nodeId}" is not a valid name`;
  const group = parseGroupId(hello.group === "" ? "default" : hello.group);
  if (group === null) return `group "${hello.group}" is not a valid name`;
  const home = hello.homeVcluster === "" ? null : parseVClusterId(hello.homeVcluster);
  if (hello.homeVcluster !== "" && home === null) return `home_vcluster "${hello.homeVcluster}" is not a valid name`;
  if (hello.capabilities === undefined) return "capabilities are missing";
  return {
    kind: "node.register",
    node,
    capabilities: capabilitiesFromProto(hello.capabilities),
    group,
    conformance: hello.conformance,
    homeVCluster: home,
    address: hello.address,
    agentVersion: hello.agentVersion,
    bootId: hello.bootId,
  };
}

const MAX_REASON_LENGTH = 500;

/** Null: the node is sound, or is down for it already. */
function hardwareVerdict(node: Node | undefined, faults: readonly string[]): NodeHealthCommand | null {
  if (node === undefined || faults.length === 0) return null;
  if (node.state.kind === "down" && node.state.cause === "hardware") return null;
  const reason = faults.join("; ").slice(0, MAX_REASON_LENGTH);
  return { kind: "node.health", node: node.id, verdict: "hardware", reason };
}

/** Ten thousand agents coming back after a restart must not write ten thousand entries. */
function changes(node: Node | undefined, command: RegisterNodeCommand): boolean {
  if (node === undefined) return true;
  if (node.state.kind === "down" || node.state.kind === "degraded" || node.state.kind === "unknown") return true;
  return describes(node, command);
}

/** Whether it says something else of the node than what is known. */
function describes(node: Node | undefined, command: RegisterNodeCommand): boolean {
  if (node === undefined) return true;
  return (
    node.group !== command.group ||
    node.conformance !== command.conformance ||
    (node.homeAssigned !== true && node.homeVCluster !== command.homeVCluster) ||
    node.address !== command.address ||
    node.agentVersion !== command.agentVersion ||
    node.bootId !== command.bootId ||
    !sameCapabilities(node.capabilities, command.capabilities)
  );
}

const sameCapabilities = (a: Capabilities, b: Capabilities): boolean => JSON.stringify(a) === JSON.stringify(b);
