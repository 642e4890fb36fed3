// Tokens that expire while the program runs: the function is called before every request, and once more after a refusal.
// A stream that the server ends with the token is resumed at the same position with the next one.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, type TokenSource } from "../src/index.ts";
import { keepShown } from "../src/shown-token.ts";
import { type Answer, type FakeServer, json, startFakeServer } from "./fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(() => server.close());

const clientWith = (token: string | TokenSource) =>
  createClient({ url: server.url, token, retry: { firstDelayMs: 1, longestDelayMs: 2 } });
const shown = () => server.seen.map(({ headers }) => headers.authorization);
const LAPSED = { code: "unauthenticated", detail: "The token is not valid: it has expired.", status: 401 };
const refused = json(401, LAPSED);

/** A, then B, then C: one for every time that it is asked. */
function renewing() {
  const asked: (string | undefined)[] = [];
  const source: TokenSource = async (not) => {
    asked.push(not);
    return String.fromCharCode(64 + asked.length);
  };
  return { asked, source };
}

/** A whole answer of these lines. */
const says =
  (type: string, lines: readonly string[]): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": type });
    response.end(lines.join(""));
  };

test("the token function runs before every request", async () => {
  const { source, asked } = renewing();
  server.answer(json(200, {}));
  const client = clientWith(source);
  await client.get("1");
  await client.cancel("1");
  expect([shown(), asked]).toEqual([
    ["Bearer A", "Bearer B"],
    [undefined, undefined],
  ]);
});

test("a rejected token is replaced once, for any call", async () => {
  const { source, asked } = renewing();
  server.answer(refused, json(200, { id: "7" }));
  expect(await clientWith(source).tasks.end("7", "7.1.x.1")).toBeUndefined();
  expect([shown(), asked]).toEqual([
    ["Bearer A", "Bearer B"],
    [undefined, "A"],
  ]);
});

test("a second rejection, or the same token, ends the call", async () => {
  server.answer(refused);
  await expect(clientWith(renewing().source).get("1")).rejects.toMatchObject({ problem: { code: "unauthenticated" } });
  expect(shown()).toEqual(["Bearer A", "Bearer B"]);
  for (const only of ["X", async () => "X"]) {
    server.seen.length = 0;
    await expect(clientWith(only).get("1")).rejects.toMatchObject({ httpStatus: 401 });
    expect(shown()).toEqual(["Bearer X"]);
  }
});

const event = (id: string) => `id: ${id}\ndata: ${JSON.stringify({ cursor: id, name: id })}\n\n`;
const problemEvent = `event: problem\ndata: ${JSON.stringify(LAPSED)}\n\n`;
const piece = (data: string, offset: number) =>
  `${JSON.stringify({ node: "n1", stream: "stdout", attempt: 1, data: btoa(data), offset: String(offset) })}\n`;
const problemLine = `${JSON.stringify({ problem: LAPSED })}\n`;
const SSE = "text/event-stream";
const LINES = "application/x-ndjson";

test("events resume behind the last one", async () => {
  server.answer(says(SSE, [event("1:0"), problemEvent]), says(SSE, [problemEvent]), says(SSE, [event("2:0")]));
  const seen: string[] = [];
  for await (const { cursor } of clientWith(renewing().source).watch({})) if (seen.push(cursor) === 2) break;
  expect(seen).toEqual(["1:0", "2:0"]);
  expect(shown()).toEqual(["Bearer A", "Bearer B", "Bearer C"]);
  expect(server.seen.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1:0", "1:0"]);
});

test("output resumes at its offset", async () => {
  server.answer(says(LINES, [piece("ab", 2), problemLine]), says(LINES, [piece("c", 3)]));
  let text = "";
  for await (const bytes of clientWith(renewing().source).streamLogs("7")) text += new TextDecoder().decode(bytes);
  expect([text, shown()]).toEqual(["abc", ["Bearer A", "Bearer B"]]);
  expect(decodeURIComponent(server.seen[1]?.url ?? "")).toContain("resume=1:n1:stdout:2");
});

test("an allocation's events and metrics resume", async () => {
  server.answer(says(SSE, [event("1"), problemEvent]), says(SSE, [event("2")]));
  const seen: string[] = [];
  for await (const { cursor } of clientWith(renewing().source).events.stream("7")) seen.push(cursor);
  server.answer(says(SSE, [event("3"), problemEvent]), says(SSE, [event("4")]));
  for await (const value of clientWith(renewing().source).streamMetrics("7")) seen.push(Object.values(value)[0]);
  expect(seen).toEqual(["1", "2", "3", "4"]);
  expect(server.seen[1]?.url).toBe("/api/v1/allocations/7/events/stream?cursor=1");
  expect(shown()).toEqual(["Bearer A", "Bearer B", "Bearer A", "Bearer B"]);
});

test("a launch resumes with a new token, and ends without one", async () => {
  const started = `${JSON.stringify({ started: { launch_id: "7.1.x.1", layout: [{ node: "n1", tasks: 1 }] } })}\n`;
  const output = (number: number) => `${JSON.stringify({ output: { data: btoa(String(number)) }, number })}\n`;
  server.answer(
    says(LINES, [started, output(1), problemLine]),
    says(LINES, [started, output(2), '{"end":{}}\n']),
    json(200, {}),
  );
  const seen: string[] = [];
  for await (const one of clientWith(renewing().source).tasks.launch("7", { command: ["true"] }))
    seen.push(one.kind === "output" ? new TextDecoder().decode(one.data) : one.kind);
  expect(seen).toEqual(["started", "1", "2", "end"]);
  expect(shown().slice(0, 2)).toEqual(["Bearer A", "Bearer B"]);
  expect(JSON.parse(server.seen[1]?.body ?? "")).toMatchObject({ resume: { positions: [1] } });
  server.answer(says(LINES, [started, problemLine]), refused);
  const again = clientWith("X").tasks.launch("7", { command: ["true"] });
  await again.next();
  await expect(again.next()).rejects.toMatchObject({ httpStatus: 401 });
});

test("a terminal is shown each new token, and none once it is closed", async () => {
  vi.useFakeTimers();
  try {
    const sent: string[] = [];
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const connection = { sendText: async (text: string) => void sent.push(text), closed } as never;
    let now = "A";
    keepShown({ connection, token: "A", newer: () => now }, 1_000);
    await vi.advanceTimersByTimeAsync(2_000);
    now = "B";
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent).toEqual(['{"token":"B"}']);
    close();
    await vi.advanceTimersByTimeAsync(1);
    now = "C";
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sent).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});
