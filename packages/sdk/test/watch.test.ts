// Watching: events in order, resumed after a cut, and told when the cursor is gone.

import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient, isCursorGone, parseEvents } from "../src/index.ts";
import { type Answer, type FakeServer, json, startFakeServer } from "./fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(() => server.close());

const client = () => createClient({ url: server.url, retry: { firstDelayMs: 1, longestDelayMs: 2 } });

/** Sends events and then closes, or cuts the connection. */
const events =
  (cursors: readonly string[], how: "end" | "cut" | "stay" = "end"): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": here we are\n\n");
    for (const cursor of cursors) {
      response.write(
        `id: ${cursor}\nevent: allocation_changed\ndata: {"cursor":"${cursor}","kind":"allocation_changed"}\n\n`,
      );
    }
    if (how === "end") response.end();
    if (how === "cut") setTimeout(() => response.socket?.destroy(), 20);
  };

async function take(count: number, after?: string): Promise<string[]> {
  const cursors: string[] = [];
  const stop = new AbortController();
  const options = { signal: stop.signal, ...(after === undefined ? {} : { after }) };
  for await (const { cursor } of client().watch({ allocation_id: "7" }, options)) {
    cursors.push(cursor);
    if (cursors.length === count) break;
  }
  stop.abort();
  return cursors;
}

test("a watch resumes after the last event when the stream ends or breaks", async () => {
  server.answer(events(["1:0", "1:1"]), events(["2:0"], "cut"), events(["3:0"], "stay"));
  expect(await take(4)).toEqual(["1:0", "1:1", "2:0", "3:0"]);
  expect(server.seen.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1:1", "2:0"]);
  expect(server.seen[0]?.url).toBe("/api/v1/events?allocation_id=7");
});

test("a watch starts after a given cursor", async () => {
  server.answer(events(["9:0"], "stay"));
  await take(1, "8:3");
  expect(server.seen[0]?.headers["last-event-id"]).toBe("8:3");
});

test("a cursor that is no longer stored ends the watch with cursor_gone", async () => {
  server.answer(events(["1:0"]), json(410, { code: "cursor_gone", detail: "gone", status: 410 }));
  const error = await take(2).catch((thrown: unknown) => thrown);
  expect(isCursorGone(error)).toBe(true);
});

test("aborting ends the stream without an error", async () => {
  server.answer(events([], "stay"));
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 30);
  const seen = [];
  for await (const event of client().watch({}, { signal: stop.signal })) seen.push(event);
  expect(seen).toEqual([]);
});

test("onOpen is called when the stream is open", async () => {
  server.answer(events(["1:0"], "stay"));
  let opened = 0;
  const onOpen = () => {
    opened += 1;
  };
  for await (const _event of client().watch({}, { onOpen })) break;
  expect(opened).toBe(1);
});

test.each([
  ["in one piece", ["id: 1\ndata: a\n\nid: 2\ndata: b\n\n"]],
  ["cut inside lines and line ends", ["id: 1\r", "\ndata", ": a\r\n\r", "\nid: 2\nda", "ta: b\n", "\n"]],
])("events %s", async (_name, pieces) => {
  async function* bytes() {
    for (const piece of pieces) yield new TextEncoder().encode(piece);
  }
  const parsed = [];
  for await (const { id, data } of parseEvents(bytes())) parsed.push([id, data]);
  expect(parsed).toEqual([
    ["1", "a"],
    ["2", "b"],
  ]);
});

test("several data lines form one text, and comments are ignored", async () => {
  async function* bytes() {
    yield new TextEncoder().encode(": hello\nevent: x\ndata: a\ndata:b\n\n: bye\n\n");
  }
  const parsed = [];
  for await (const event of parseEvents(bytes())) parsed.push(event);
  expect(parsed).toEqual([{ id: "", event: "x", data: "a\nb" }]);
});

test("an event stream resumes behind the last event and ends with the allocation", async () => {
  server.answer(events(["1:0", "2:0"], "cut"), events(["3:0"]));
  const cursors: string[] = [];
  for await (const { cursor } of client().events.stream("7", { types: ["state"] })) cursors.push(cursor);
  expect(cursors).toEqual(["1:0", "2:0", "3:0"]);
  expect(server.seen.map(({ url }) => url.replace("/api/v1/allocations/7/events/stream", ""))).toEqual([
    "?types=state",
    "?types=state&cursor=2%3A0",
  ]);
});

test("a stream that cannot be opened is not retried forever", async () => {
  server.answer(json(404, { code: "unknown_allocation", detail: "no", status: 404 }));
  await expect(client().streamMetrics("7").next()).rejects.toThrow("no");
  expect(server.seen).toHaveLength(1);
});
