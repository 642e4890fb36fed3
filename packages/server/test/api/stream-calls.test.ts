// Streams of the contract over gRPC: each is opened, read and closed. Output streams have their own test.

import { create, type Message } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callGrpc, metadataOf, methodOf, type Running, startTestApi, streamGrpc } from "./clients.ts";
import { provesCalls } from "./proven-calls.ts";

provesCalls(import.meta.url);

const ADA = { "x-lattice-user": "ada" };
let running: Running;
beforeAll(async () => {
  running = await startTestApi();
  running.plane.addNode("n1");
  const allocation = create(pb.AllocationSpecSchema, { entrypoint: "true" });
  await callGrpc(running, "AllocationService.Submit", create(pb.SubmitRequestSchema, { allocation }), ADA);
  running.plane.start("1", ["n1"]);
  running.plane.screen = async function* () {
    yield create(pb.AttachResponseSchema, { message: { case: "stdout", value: Buffer.from("$ ") } });
  };
});
afterAll(() => running.close());

/** The first message as JSON; the stream is closed then. */
async function first(rpc: string, request: Message): Promise<string> {
  const stop = new AbortController();
  try {
    for await (const message of streamGrpc(running, rpc, request, stop.signal, ADA)) {
      stop.abort();
      return JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value));
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return "";
}

test("events of all work, and of one allocation", async () => {
  const watched = first("AllocationService.Watch", create(pb.WatchRequestSchema, { cursor: "1" }));
  expect(await watched).toContain("node_changed");
  expect(await first("EventService.StreamEvents", create(pb.ListEventsRequestSchema, { id: "1" }))).not.toBe("");
});

test("metrics", async () => {
  const request = create(pb.StreamMetricsRequestSchema, { id: "1" });
  const stop = new AbortController();
  const figures = streamGrpc(running, "AllocationService.StreamMetrics", request, stop.signal);
  setTimeout(() => stop.abort(), 200);
  await expect(figures.next()).rejects.toMatchObject({ code: 1 });
});

test("tasks: a finished launch yields nothing more", async () => {
  const request = create(pb.LaunchTasksRequestSchema, { allocationId: "1", command: ["true"] });
  expect(await first("TaskService.LaunchTasks", request)).toBe("");
});

test("a terminal in both directions", async () => {
  const method = methodOf("SessionService.Attach");
  const call = running.grpc.makeBidiStreamRequest<Message, Message>(
    method.path,
    (message) => method.requestSerialize(message),
    (bytes) => method.responseDeserialize(bytes),
    metadataOf(ADA),
  );
  call.write(create(pb.AttachRequestSchema, { message: { case: "start", value: { id: "1" } } }));
  const seen: Message[] = [];
  for await (const message of call as AsyncIterable<Message>) seen.push(message);
  call.end();
  expect(seen).toHaveLength(1);
});
