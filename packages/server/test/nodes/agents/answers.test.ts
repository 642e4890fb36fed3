// Only the requested node may open a stream of output or a terminal: another node that names the stream is refused, and
// the reader waits for the right one.

import { PassThrough } from "node:stream";
import type { PeerCertificate } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { Metadata, status } from "@grpc/grpc-js";
import type { AllocationId, Attempt, NodeId, UserName } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test, vi } from "vitest";
import { createAgentGuard } from "../../../src/nodes/agents/guard.ts";
import { createAgentHub, type ServerMessageBody } from "../../../src/nodes/agents/hub.ts";
import { createLogRelay } from "../../../src/nodes/agents/logs.ts";
import { createTerminalRelay } from "../../../src/nodes/terminals/relay.ts";
import { type AgentServiceParts, agentService } from "../../../src/peers/agent-service.ts";
import { createTestClock } from "../../base/clock.ts";

const node = "n1" as NodeId;
const allocation = "a1" as AllocationId;
const attempt = 1 as Attempt;

type Handlers = Record<"sendLogs" | "serveTerminal", (call: object, reply?: unknown) => void>;

/** A server with one connected node, n1, that authenticates agents by certificate. */
function serving() {
  const clock = createTestClock();
  const hub = createAgentHub(clock);
  const orders: ServerMessageBody[] = [];
  hub.add({ node, protocol: 1, send: (order) => void orders.push(order), end: () => undefined });
  const logs = createLogRelay(hub, clock);
  const terminals = createTerminalRelay(hub, clock, () => ({ perUser: 9, idleWarningSeconds: 0 }));
  const guard = createAgentGuard({ authenticator: null, certificates: true });
  const service = agentService({
    context: { clock, refusal: guard.refusal },
    leader: { sequencer: () => ({}) },
    connection: { client: () => null },
    logs,
    terminals,
  } as unknown as AgentServiceParts);
  const handlers = guard.guarded(service).implementation as unknown as Handlers;
  const asked = (): string => (orders[0]?.value as { readonly streamId?: string } | undefined)?.streamId ?? "";
  return { logs, terminals, handlers, orders, asked };
}

/** A stream that the agent of that name opens, with all it sends. */
function streamOf(name: string, messages: readonly object[]) {
  const subject = { CN: `${name}.alps.lattice.internal`, OU: "agent" };
  const errors: number[] = [];
  const call = Object.assign(new PassThrough({ objectMode: true }), {
    metadata: new Metadata(),
    getAuthContext: () => ({ sslPeerCertificate: { subject, subjectaltname: "" } as unknown as PeerCertificate }),
  });
  call.on("error", (error: Error & { readonly code?: number }) => errors.push(error.code ?? 0));
  for (const message of messages) call.write(message);
  return { call, errors };
}

const query = {
  allocation,
  attempt,
  node,
  stream: "stdout",
  tail: 0,
  follow: false,
  offset: 0,
  sinceMs: 0,
  untilMs: 0,
} as const;

const chunkOf = (streamId: string, text: string) =>
  create(pb.AgentLogChunkSchema, { streamId, data: Buffer.from(text) });

test("output of a node is accepted from that node only", async () => {
  const { logs, handlers, orders, asked } = serving();
  const reader = logs.open(query, new AbortController().signal)[Symbol.asyncIterator]();
  const read = reader.next();
  await vi.waitFor(() => expect(orders.length).toBe(1), 60_000);
  const bring = (name: string, text: string): Promise<{ readonly code?: number } | null> =>
    new Promise((resolve) => {
      const { call } = streamOf(name, [chunkOf(asked(), text)]);
      handlers.sendLogs(call, resolve);
      call.end();
    });
  expect(await bring("n2", "forged")).toMatchObject({ code: status.PERMISSION_DENIED });
  const brought = bring("n1", "true");
  expect(Buffer.from((await read).value.data).toString()).toBe("true");
  expect(await reader.next()).toMatchObject({ done: true });
  expect(await brought).toBeNull();
});

test("the name of a stream reveals no other name", async () => {
  const { logs, orders } = serving();
  const { signal } = new AbortController();
  for (const offset of [0, 1])
    void logs
      .open({ ...query, offset }, signal)
      [Symbol.asyncIterator]()
      .next();
  await vi.waitFor(() => expect(orders.length).toBe(2), 60_000);
  const chance = orders.map(({ value }) => /^logs-\d+-([0-9a-f]{32})$/.exec((value as pb.OpenLogs).streamId)?.[1]);
  expect(new Set(chance).size).toBe(2);
  expect(chance).not.toContain(undefined);
});

test("a terminal on a node is served by that node only", async () => {
  const { terminals, handlers, orders, asked } = serving();
  const silent = (async function* (): AsyncGenerator<pb.AttachRequest> {
    await new Promise(() => undefined);
  })();
  const size = { rows: 24, cols: 80 };
  const wanted = { allocation, attempt, node, user: "ada" as UserName, command: "", size, term: "xterm" };
  const reader = terminals.open(wanted, silent, new AbortController().signal)[Symbol.asyncIterator]();
  const read = reader.next();
  await vi.waitFor(() => expect(orders.length).toBe(1), 60_000);
  const serve = (name: string, text: string) => {
    const output = create(pb.AttachResponseSchema, { message: { case: "stdout", value: Buffer.from(text) } });
    const stream = streamOf(name, [create(pb.ServeTerminalRequestSchema, { streamId: asked(), output })]);
    handlers.serveTerminal(stream.call);
    return stream;
  };
  const forged = serve("n2", "forged");
  await vi.waitFor(() => expect(forged.errors).toEqual([status.PERMISSION_DENIED]), 60_000);
  const right = serve("n1", "true");
  expect(Buffer.from((await read).value.message.value).toString()).toBe("true");
  expect(right.errors).toEqual([]);
  await reader.return?.();
});
