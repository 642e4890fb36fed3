// Streams over gRPC and HTTP, and WebSockets, on running work with generated input, some closed half-way: no answer is
// an internal error, nothing changes, everything is closed, and no memory leaks. LATTICE_TEST_SEED=<number> tries other
// cases.

import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { create, type Message, toBinary } from "@bufbuild/protobuf";
import type { ServiceError } from "@grpc/grpc-js";
import { pb, type Route, routes } from "@lattice/wire";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SERVICES } from "../../../src/api/call/rpc.ts";
import { callHttp, metadataOf, methodOf, problemOfService, type Running, startTestApi } from "../clients.ts";
import { framesFor } from "./frames.ts";
import { heapUsed } from "./heap.ts";
import { furnish, type Live } from "./live.ts";
import { type FuzzRequest, formatted, requestFor } from "./requests.ts";
import { streamClient } from "./streams.ts";
import { dice, messageFor, nameLive, type Roll } from "./values.ts";

const seed = Number(process.env.LATTICE_TEST_SEED ?? 1);
/** Allows for slow machines. */
const WITHIN_MS = 600_000;
const AT_ONCE = 20;
const SOCKETS = 400;
const STREAMS = 600;
const HTTP_STREAMS = 400;
/** Ten times what caches take after the first quarter; some twenty kilobytes per remaining request. */
const MOST_GROWTH_BYTES = 8 * 1024 * 1024;
const ADA = { "x-lattice-user": "ada" };

const where = (what: string): string => `LATTICE_TEST_SEED=${seed}: ${what}`;

let running: Running;
let live: Live;
let service: Server;
/** Open terminals and followed logs. */
let open = 0;
let opened = 0;
let followed = 0;

beforeAll(async () => {
  service = createServer();
  service.on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n");
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const many = {
    attach_max_concurrent: 1_000,
    stream_logs_max_concurrent: 1_000,
    stream_metrics_max_concurrent: 1_000,
  };
  running = await startTestApi({ rate_limits: many });
  const { plane } = running;
  plane.screen = async function* (_query, input, signal) {
    open += 1;
    opened += 1;
    try {
      yield create(pb.AttachResponseSchema, { message: { case: "started", value: {} } });
      for await (const { message } of input) {
        if (signal.aborted) return;
        if (message.case === "stdin")
          yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: message.value } });
      }
    } finally {
      open -= 1;
    }
  };
  plane.output = async function* (_query, signal) {
    open += 1;
    followed += 1;
    try {
      let offset = 0;
      for (const size of [1, 100, 70_000]) {
        offset += size;
        yield { data: Buffer.alloc(size, "x"), offset };
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      open -= 1;
    }
  };
  const submit = async (path: string, body: object) => {
    const headers = { ...ADA, "content-type": "application/json" };
    const { status, text } = await callHttp(running, { method: "POST", path, headers, body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  live = await furnish(plane, submit, (service.address() as AddressInfo).port);
  nameLive(live.ids);
});
afterAll(async () => {
  await running.close();
  service.closeAllConnections();
  service.close();
});

/** Opening a terminal has an audit record; it is the last table. */
const content = (): string => running.plane.content().replace(/\w{64} (?=\d+ \{)/, "");

/** Runs `one` the given number of times, a few at once; measures the heap after the first quarter. */
async function repeated(times: number, one: (n: number) => Promise<void>): Promise<void> {
  const before = content();
  let heap = 0;
  for (let n = 0; n < times; n += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => one(n + i)));
    if (heap === 0 && n >= times / 4) heap = heapUsed();
  }
  await vi.waitFor(() => expect(open, where("what is still open")).toBe(0), WITHIN_MS);
  expect(content(), where("the state")).toBe(before);
  expect(heapUsed() - heap, where("memory grew")).toBeLessThan(MOST_GROWTH_BYTES);
}

const streaming = SERVICES.flatMap((desc) =>
  desc.methods
    .filter(({ methodKind }) => methodKind !== "unary")
    .map((method) => ({ rpc: `${desc.name}.${method.name}`, method })),
);

test("gRPC: every stream, with messages and with bytes, to its end or left half-way", {
  timeout: WITHIN_MS,
}, async () => {
  const roll = dice(seed + 3);
  await repeated(STREAMS, async (n) => {
    const { rpc, method } = streaming[n % streaming.length] as (typeof streaming)[number];
    const both = method.methodKind === "bidi_streaming" || method.methodKind === "client_streaming";
    const sent = Array.from({ length: both ? 1 + roll(5) : 1 }, (_, i) => sentFor(roll, method.input, both && i === 0));
    const problem = await stream(rpc, sent, { leaves: roll(2) === 0, both });
    if (problem !== null && problem.status >= 500) throw new Error(where(`${n} ${rpc}: ${JSON.stringify(problem)}`));
  });
  const start = create(pb.AttachRequestSchema, { message: { case: "start", value: { id: live.running } } });
  expect(await stream("SessionService.Attach", [start], { leaves: false, both: true }, WITHIN_MS)).toBeNull();
  expect(opened, "terminals that were opened").toBeGreaterThan(0);
  const unknown = create(pb.LogsRequestSchema, { id: "999999" });
  const refused = await stream("AllocationService.StreamLogs", [unknown], { leaves: false, both: false }, WITHIN_MS);
  expect(refused).toMatchObject({ code: "unknown_allocation" });
});

/** The start message of a terminal; half of them name running work. */
function sentFor(roll: Roll, schema: Parameters<typeof messageFor>[1], begins: boolean): Message | Buffer {
  if (begins && roll(2) === 0 && schema.typeName === pb.AttachRequestSchema.typeName)
    return create(pb.AttachRequestSchema, { message: { case: "start", value: { id: live.running } } });
  const message = messageFor(roll, schema);
  if (roll(8) !== 0) return message;
  const bytes = Buffer.from(toBinary(schema, message));
  for (let n = 0; n < 3 && bytes.length > 0; n += 1) bytes[roll(bytes.length)] = roll(256);
  return bytes;
}

/** `null` when it was served, or closed before an answer. */
function stream(
  rpc: string,
  sent: readonly (Message | Buffer)[],
  { leaves, both }: { readonly leaves: boolean; readonly both: boolean },
  patienceMs = 60,
): Promise<ReturnType<typeof problemOfService> | null> {
  const method = methodOf(rpc);
  const serialise = (message: Message | Buffer): Buffer =>
    Buffer.isBuffer(message) ? message : method.requestSerialize(message);
  const read = (bytes: Buffer) => method.responseDeserialize(bytes);
  const [first = Buffer.alloc(0)] = sent;
  const metadata = metadataOf(ADA);
  return new Promise((resolve) => {
    const twoWay = both ? running.grpc.makeBidiStreamRequest(method.path, serialise, read, metadata) : null;
    const call = twoWay ?? running.grpc.makeServerStreamRequest(method.path, serialise, read, first, metadata);
    let left = false;
    const leave = (): void => {
      left = true;
      call.cancel();
    };
    call.on("data", leave);
    call.on("end", () => resolve(null));
    call.on("error", (error: ServiceError) => resolve(left ? null : problemOfService(error)));
    for (const message of sent) twoWay?.write(message);
    if (!leaves) twoWay?.end();
    // Some streams are silent until an event.
    if (leaves) setImmediate(leave);
    else running.plane.apply();
    setTimeout(leave, patienceMs).unref();
  });
}

test("HTTP: followed logs and all other streams, as events, lines and bytes", {
  timeout: WITHIN_MS,
}, async () => {
  const roll = dice(seed + 5);
  const all = routes().filter(({ kind, httpMethod }) => kind === "server_stream" && httpMethod === "GET");
  const client = streamClient(running.rest, AT_ONCE);
  let answered = 0;
  let served = 0;
  followed = 0;
  try {
    await repeated(HTTP_STREAMS, async (n) => {
      const request = onLive(roll, all[n % all.length] as Route);
      const { status, text } = await client.ask(request, roll(3) === 0 ? "at once" : "later");
      answered += 1;
      if (status === 200) served += 1;
      if (status >= 500 || /"status":5\d\d/.test(text))
        throw new Error(where(`${n} ${request.url} gave ${status} ${text.slice(0, 500)}`));
    });
  } finally {
    client.close();
  }
  expect(answered).toBe(HTTP_STREAMS);
  expect(served, "streams that stayed open").toBeGreaterThan(HTTP_STREAMS / 4);
  expect(followed, "logs that were followed").toBeGreaterThan(HTTP_STREAMS / 20);
});

/** Addresses of running work; half of them cannot be refused. */
function onLive(roll: Roll, route: Route): FuzzRequest {
  const path = route.path.replace(/:[a-z_]+/, live.running);
  const { url, headers, ...rest } = formatted(roll, requestFor(roll, route));
  if (roll(2) === 0) return { ...rest, url: path, headers: { ...headers, ...ADA, "x-lattice-tenant": "" } };
  return { ...rest, url: `${path}?${url.split("?")[1] ?? ""}`, headers };
}

test("WebSockets: terminals, sessions and services, whatever is sent on them", { timeout: WITHIN_MS }, async () => {
  const roll = dice(seed + 4);
  const places = [
    `/api/v1/allocations/${live.running}/attach?rows=24&cols=80`,
    `/api/v1/sessions/${live.session}/terminal`,
    `/api/v1/services/${live.service}/proxy/ws`,
  ];
  const before = opened;
  await repeated(SOCKETS, async (n) => {
    const sent = framesFor(roll);
    const cut = roll(3) === 0 ? sent.subarray(0, roll(sent.length + 1)) : sent;
    const said = await socket(places[n % places.length] ?? "", cut, roll(3));
    const status = said.slice("HTTP/1.1 ".length, "HTTP/1.1 101".length);
    if (status !== "101" || /"status":5\d\d/.test(said))
      throw new Error(where(`${n} ${cut.toString("hex").slice(0, 2_000)}: ${said.slice(0, 2_000)}`));
  });
  expect(opened - before, "terminals that were opened").toBeGreaterThan(SOCKETS / 2);
});

/** Returns the answer. The server closes the connection, or the client does after its frames were sent, with or without a close frame. */
function socket(path: string, frames: Uint8Array, way: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const to = new URL(running.rest);
    const line = connect(Number(to.port), to.hostname, () =>
      line.write(
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-lattice-user: ada\r\n` +
          `sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
      ),
    );
    let answered = false;
    line.on("data", (data: Buffer) => {
      text += data.toString("latin1");
      if (answered || !text.includes("\r\n\r\n")) return;
      answered = true;
      line.write(frames, () => {
        if (way === 0) line.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
        if (way === 1) line.end();
        if (way === 2) setTimeout(() => line.destroy(), 20);
        // The server waits for the rest of a truncated frame.
        setTimeout(() => line.destroy(), 60).unref();
      });
    });
    line.on("error", () => (answered ? undefined : reject(new Error(`no answer: ${text}`))));
    line.on("close", () => resolve(text));
  });
}
