// Slow clients and oversized messages: an idle connection, a call without its message, a body that is sent byte by
// byte, lists without end. Each is disconnected in time over REST and gRPC, and other clients are served meanwhile.

import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { create, type Message } from "@bufbuild/protobuf";
import { Server } from "@grpc/grpc-js";
import { MAX_DEPTH, MAX_ITEMS, pb } from "@lattice/wire";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { boundConnections } from "../../src/api/grpc/connections.ts";
import { boundsViolation } from "../../src/api/grpc/message-bounds.ts";
import { createSlowCalls } from "../../src/api/grpc/slow-calls.ts";
import { MAX_STREAMS_PER_CONNECTION } from "../../src/api/limits/limits.ts";
import { callGrpc, callRest, methodOf, type Running, restOf, startTestApi } from "./clients.ts";

let running: Running;
beforeAll(async () => {
  running = await startTestApi({ api: { headers_timeout: "1500ms", request_timeout: "3s" } });
});
afterAll(() => running.close());

const portOf = (address: string): number => Number(address.split(":").at(-1));
const served = () => callGrpc(running, "NodeService.ListNodes", create(pb.ListNodesRequestSchema));

/** Everything that the other end sends until it closes. */
function untilClosed(port: number, begin: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => begin(socket));
    socket.on("data", (data: Buffer) => {
      text += data.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}

function drip(socket: { write(text: string): unknown; once(event: "close", listener: () => void): unknown }): void {
  const timer = setInterval(() => socket.write("x"), 50);
  socket.once("close", () => clearInterval(timer));
}

describe("REST", () => {
  test("a body that is sent byte by byte is refused in time", async () => {
    const before = running.plane.hash();
    const said = await untilClosed(portOf(running.api.restAddress), (socket) => {
      const headers = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000";
      socket.write(`POST /api/v1/allocations HTTP/1.1\r\n${headers}\r\n\r\n{`);
      drip(socket);
    });
    expect(said).toMatch(/^HTTP\/1.1 504 [\s\S]*"deadline_exceeded"/);
    expect(running.plane.hash()).toBe(before);
    expect(await served()).toHaveProperty("json");
  });

  /** Never closes, and continues to send. */
  function stubborn(begin: string, more: Uint8Array | null = null): Promise<string> {
    return new Promise((resolve) => {
      let text = "";
      const to = { port: portOf(running.api.restAddress), host: "127.0.0.1", allowHalfOpen: true };
      const socket = connect(to, () => socket.write(begin));
      socket.on("data", (data: Buffer) => {
        if (text === "" && more !== null) socket.write(more);
        if (text === "") drip(socket);
        text += data.toString("latin1");
      });
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(text));
    });
  }

  test("a client that does not close after the final response is disconnected", { timeout: 120_000 }, async () => {
    const { plane } = running;
    plane.addNode("n1");
    await callRest(running, { method: "POST", path: "/v1/allocations", body: "{entrypoint: yes}" });
    plane.start("1", ["n1"]);
    let left = 0;
    plane.screen = async function* (_asked, _input, signal) {
      yield { message: { case: "started", value: {} } } as never;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      left += 1;
    };
    const upgrade = (path: string) =>
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
    const close = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);
    const said = await Promise.all([
      stubborn("nothing of HTTP\r\n\r\n"),
      stubborn(upgrade("/api/v1/sessions/99.1/terminal")),
      stubborn(upgrade("/api/v1/services/nobody/proxy/")),
      stubborn(upgrade("/api/v1/allocations/1/attach"), close),
    ]);
    const statuses = said.map((text) => text.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length));
    expect(statuses).toEqual(["400", "404", "404", "101"]);
    await vi.waitFor(() => expect(left, "terminals that were left").toBe(1), 60_000);
  });
});

describe("gRPC", () => {
  const open = (): ClientHttp2Session => {
    const session = connectHttp2(`http://${running.api.grpcAddress}`);
    session.on("error", () => undefined);
    return session;
  };
  const begin = (session: ClientHttp2Session, rpc: string): ClientHttp2Stream =>
    session.request({
      ":method": "POST",
      ":path": methodOf(rpc).path,
      "content-type": "application/grpc",
      te: "trailers",
    });
  const statusOf = (stream: ClientHttp2Stream): Promise<string> =>
    new Promise((resolve) => {
      stream.on("error", () => undefined);
      stream.on("response", (headers) => "grpc-status" in headers && resolve(String(headers["grpc-status"])));
      stream.on("trailers", (headers) => resolve(String(headers["grpc-status"])));
      stream.on("close", () => resolve(`closed ${stream.rstCode}`));
      stream.resume();
    });

  test("an idle connection, or one with another protocol, is closed", async () => {
    const port = portOf(running.api.grpcAddress);
    await untilClosed(port, () => undefined);
    await untilClosed(port, (socket) => drip(socket));
    expect(await served()).toHaveProperty("json");
  });

  test("a call whose message does not arrive, or arrives byte by byte, is refused", async () => {
    const session = open();
    const silent = begin(session, "NodeService.ListNodes");
    const slow = begin(session, "AllocationService.Submit");
    const both = begin(session, "SessionService.Attach");
    const stream = begin(session, "AllocationService.Watch");
    // The beginning of a message of 100,000 bytes.
    slow.write(Buffer.from([0, 0, 1, 134, 160]));
    drip(slow);
    expect(await Promise.all([silent, slow, both, stream].map(statusOf))).toEqual(["4", "4", "4", "4"]);
    expect(await served()).toHaveProperty("json");
    session.close();
  });

  test("a stream that sent its message in time stays open", async () => {
    const method = methodOf("AllocationService.Watch");
    const call = running.grpc.makeServerStreamRequest<Message, Message>(
      method.path,
      (message) => method.requestSerialize(message),
      (bytes) => method.responseDeserialize(bytes),
      create(pb.WatchRequestSchema),
    );
    const ended = vi.fn();
    call.on("error", ended).on("end", ended);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(ended).not.toHaveBeenCalled();
    call.cancel();
  });

  test("the limit of streams is announced to a connection", async () => {
    const session = open();
    const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
      session.once("remoteSettings", resolve),
    );
    expect(settings.maxConcurrentStreams).toBe(MAX_STREAMS_PER_CONNECTION);
    session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
  });

  test("a library without listeners that can be limited is not used", () => {
    expect(() => boundConnections(new Server(), 1_000)).toThrow("cannot limit gRPC connections");
  });
});

test("slow calls are refused once, in order of arrival, and not after their message", () => {
  vi.useFakeTimers();
  let now = 0;
  const slow = createSlowCalls(1_000, () => now);
  const [first, second, third] = [vi.fn(), vi.fn(), vi.fn()];
  slow.begin(first);
  slow.begin(second)();
  now = 600;
  slow.begin(third);
  now = 1_100;
  vi.advanceTimersByTime(250);
  expect([first, second, third].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
  now = 1_700;
  vi.advanceTimersByTime(250);
  expect([first, second, third].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
  expect(slow.waiting).toBe(0);
  slow.close();
  vi.useRealTimers();
});

describe("what a message may hold", () => {
  const many = MAX_ITEMS + 1;

  test("lists and maps have the same limits over REST and gRPC", async () => {
    const before = running.plane.hash();
    const ids = Array.from({ length: many }, () => "1");
    const evil = create(pb.SubmitDagRequestSchema, {
      allocations: ids.map((id, n) => ({ name: `a${n}`, entrypoint: id })),
    });
    const byGrpc = await callGrpc(running, "DagService.SubmitDag", evil);
    const byRest = await callRest(running, restOf("DagService.SubmitDag", evil));
    const problem = { code: "invalid_argument", detail: expect.stringContaining(`has ${many} items; at most`) };
    expect([byGrpc, byRest]).toMatchObject([{ problem }, { problem }]);
    const tags = Object.fromEntries(Array.from({ length: many }, (_, n) => [`t${n}`, ""]));
    const tagged = create(pb.SubmitRequestSchema, { allocation: { entrypoint: "true", tags } });
    expect(await callGrpc(running, "AllocationService.Submit", tagged)).toMatchObject({
      problem: { fields: [{ field: "allocation.tags", detail: `has ${many} entries; at most ${MAX_ITEMS}` }] },
    });
    expect(running.plane.hash()).toBe(before);
  });

  test("depth is limited everywhere in a message", () => {
    const nested = (depth: number, wrap: (inner: object) => object): Message => {
      let message: object = { $typeName: "x" };
      for (let i = 1; i < depth; i += 1) message = { $typeName: "x", ...wrap(message) };
      return message as Message;
    };
    const ways: ((inner: object) => object)[] = [
      (inner) => ({ theField: inner }),
      (inner) => ({ theList: [inner] }),
      (inner) => ({ theMap: { key: inner } }),
      (inner) => ({ message: { case: "start", value: inner } }),
    ];
    for (const way of ways) {
      expect(boundsViolation(nested(MAX_DEPTH, way))).toBeNull();
      expect(boundsViolation(nested(MAX_DEPTH + 1, way))?.problem.detail).toContain(`more than ${MAX_DEPTH} deep`);
    }
    expect(
      boundsViolation(nested(MAX_DEPTH + 1, (inner) => ({ theField: inner })))?.problem.fields?.[0]?.field,
    ).toMatch(/^the_field\.the_field/);
  });

  test("the length of bytes is not limited as a list", () => {
    const input = create(pb.AttachRequestSchema, { message: { case: "stdin", value: new Uint8Array(100_000) } });
    expect(boundsViolation(input)).toBeNull();
  });
});
