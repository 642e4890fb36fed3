// Watching over REST and gRPC: formats, filters, resuming, and the end of a stream.

import { get } from "node:http";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { callRest, type Running, startTestApi, streamGrpc } from "./clients.ts";

let running: Running;
beforeEach(async () => {
  running = await startTestApi();
});
afterEach(async () => {
  await running.close();
});

const submit = () => callRest(running, { method: "POST", path: "/v1/allocations", body: "entrypoint: hostname" });

interface Stream {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Resolves when the text received so far satisfies the test, or the stream has ended. */
  until(done: (text: string) => boolean): Promise<string>;
  close(): void;
}

function open(path: string, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const request = get(`${running.rest}${path}`, { headers, agent: false }, (response) => {
      let text = "";
      let ended = false;
      const waiting = new Set<() => void>();
      const wake = () => {
        for (const look of waiting) look();
      };
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        wake();
      });
      response.on("close", () => {
        ended = true;
        wake();
      });
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        until: (done) =>
          new Promise((found) => {
            const look = () => {
              if (!done(text) && !ended) return;
              waiting.delete(look);
              found(text);
            };
            waiting.add(look);
            look();
          }),
        close: () => request.destroy(),
      });
    });
    request.on("error", reject);
  });
}

const SSE = { accept: "text/event-stream" };
const idsOf = (text: string): string[] => [...text.matchAll(/^id: (.+)$/gm)].map((match) => match[1] ?? "");

test("server-sent events carry kind, cursor and JSON, and resume from Last-Event-ID", async () => {
  const first = await open("/api/v1/events", SSE);
  expect(first.headers["content-type"]).toContain("text/event-stream");
  await submit();
  await submit();
  const text = await first.until((t) => idsOf(t).length >= 2);
  first.close();
  expect(text).toContain("event: allocation_changed\n");
  const data = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? "");
  expect(data).toMatchObject({ kind: "allocation_changed", allocation_id: "1", to: "pending", cursor: idsOf(text)[0] });

  await submit();
  const again = await open(`/api/v1/events?cursor=${idsOf(text)[0]}`, {
    ...SSE,
    "last-event-id": idsOf(text)[1] ?? "",
  });
  const rest = await again.until((t) => idsOf(t).length >= 1);
  again.close();
  expect(rest).toContain('"allocation_id":"3"');
  expect(rest).not.toContain('"allocation_id":"2"');
});

test("a cursor, or the log_index of a list, replays later events", async () => {
  const index = running.plane.view().index;
  await submit();
  const stream = await open(`/api/v1/events?cursor=${index}`);
  expect(stream.headers["content-type"]).toContain("application/x-ndjson");
  const text = await stream.until((t) => t.includes("\n"));
  stream.close();
  expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ allocation_id: "1", cursor: `${index + 1}:0` });
});

test("filters by allocation, node and kind", async () => {
  await submit();
  const one = await open("/api/v1/allocations/1/watch", SSE);
  const nodes = await open("/api/v1/events?kinds=node_changed", SSE);
  await submit();
  running.plane.addNode("n1");
  running.plane.start("1", ["n1"]);
  const about = await one.until((t) => t.includes('"to":"running"'));
  expect(about).not.toContain('"allocation_id":"2"');
  expect(await nodes.until((t) => idsOf(t).length >= 1)).not.toContain("allocation_changed");
  one.close();
  nodes.close();
});

test("an expired cursor is 410, also as Last-Event-ID", async () => {
  await submit();
  running.plane.forgetEvents(2);
  const answers = [
    await callRest(running, { path: "/v1/events?cursor=1:0" }),
    await callRest(running, { path: "/v1/events", headers: { ...SSE, "last-event-id": "1:0" } }),
  ];
  for (const answer of answers) expect(answer).toMatchObject({ problem: { code: "cursor_gone", status: 410 } });
});

test.each([
  ["/v1/events?cursor=yesterday", "cursor"],
  ["/v1/events?kinds=weather", "kinds[0]"],
  ["/v1/events?format=xml", "format"],
])("%s is refused", async (path, field) => {
  expect(await callRest(running, { path })).toMatchObject({ problem: { status: 400, fields: [{ field }] } });
});

test("an unknown allocation cannot be watched", async () => {
  expect(await callRest(running, { path: "/v1/allocations/77/watch" })).toMatchObject({ problem: { status: 404 } });
});

test("gRPC sees the same events", async () => {
  const stop = new AbortController();
  const index = running.plane.view().index;
  await submit();
  await submit();
  const request = create(pb.WatchRequestSchema, { cursor: `${index}` });
  const seen: string[] = [];
  for await (const event of streamGrpc(running, "AllocationService.Watch", request, stop.signal)) {
    seen.push((event as pb.Event).allocationId);
    if (seen.length === 2) break;
  }
  stop.abort();
  expect(seen).toEqual(["1", "2"]);
});

test("a stop ends streams with a reason", async () => {
  const sources = countSources();
  const events = await open("/v1/events", SSE);
  const lines = await open("/v1/events");
  const grpc = streamGrpc(running, "AllocationService.Watch", create(pb.WatchRequestSchema)).next();
  const outcome = grpc.then(
    () => "ended",
    (error: { code: number; details: string }) => `${error.code} ${error.details}`,
  );
  await expect.poll(sources).toBe(3);
  await running.api.close();
  expect(await events.until(() => false)).toContain('event: problem\ndata: {"type":"urn:lattice:error:shutting_down"');
  expect(await lines.until(() => false)).toContain('{"problem":{"type":"urn:lattice:error:shutting_down"');
  expect(await outcome).toBe("14 This server is stopping.");
});

/** The number of open reads. */
function countSources(): () => number {
  let count = 0;
  const { events } = running.plane;
  running.plane.events = async function* (after, signal) {
    count += 1;
    try {
      yield* events(after, signal);
    } finally {
      count -= 1;
    }
  };
  return () => count;
}

test("a caller that disconnects ends the source", async () => {
  const sources = countSources();
  const stream = await open("/v1/events", SSE);
  await expect.poll(sources).toBe(1);
  stream.close();
  await expect.poll(sources).toBe(0);
});

test("the events of one allocation are streamed until it has ended, and resume after a cursor", async () => {
  await submit();
  const stream = await open("/api/v1/allocations/1/events/stream", SSE);
  running.plane.addNode("n1");
  running.plane.start("1", ["n1"]);
  running.plane.finish("1", 3);
  const text = await stream.until((t) => t.includes("event: failed"));
  const kinds = [...text.matchAll(/^event: (.+)$/gm)].map((match) => match[1]);
  expect(kinds).toEqual(["submitted", "placed", "started", "failed"]);
  const placed = idsOf(text)[1] ?? "";
  const again = await open("/api/v1/allocations/1/events/stream", { ...SSE, "last-event-id": placed });
  const rest = await again.until(() => false);
  expect([...rest.matchAll(/^event: (.+)$/gm)].map((match) => match[1])).toEqual(["started", "failed"]);
});

test("a record that changes while its reasons are read is shown with the index before the change", async () => {
  const { plane } = running;
  plane.addNode("n1");
  await submit();
  const before = plane.view().index;
  plane.pendingReasons = async () => {
    plane.start("1", ["n1"]);
    return [];
  };
  const answer = await callRest(running, { path: "/v1/allocations/1" });
  expect(answer).toMatchObject({ json: { state: "pending", log_index: String(before) } });
  expect(plane.view().index).toBeGreaterThan(before);
});
