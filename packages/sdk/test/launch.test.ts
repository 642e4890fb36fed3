// A launch whose server is lost is resumed behind the last event and never started twice.

import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "../src/index.ts";
import { type Answer, cut, type FakeServer, json, startFakeServer } from "./fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(() => server.close());

const client = () => createClient({ url: server.url, retry: { firstDelayMs: 1, longestDelayMs: 2 } });

const lines =
  (events: readonly object[], how: "end" | "cut" = "end"): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    for (const event of events) response.write(`${JSON.stringify(event)}\n`);
    if (how === "end") response.end();
    else setTimeout(() => response.socket?.destroy(), 20);
  };

const started = {
  started: {
    launch_id: "7.1.x.1",
    layout: [
      { node: "n1", tasks: 2 },
      { node: "n2", tasks: 1 },
    ],
  },
};
const output = (number: number, text: string) => ({
  output: { stream: "stdout", data: btoa(text) },
  number,
});
const taskEnd = { task_end: { node: "n1" }, number: 3 };

async function run(): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of client().tasks.launch("7", { command: ["true"] }, { patienceMs: 30_000 }))
    seen.push(event.kind === "output" ? new TextDecoder().decode(event.data) : event.kind);
  return seen;
}

test("an interrupted launch resumes at another server and acknowledges its end", async () => {
  const moved = { problem: { code: "not_leader", detail: "another leads" } };
  server.answer(
    lines([started, output(1, "a"), output(2, "b"), taskEnd], "cut"),
    lines([moved]),
    lines([started, taskEnd, { ...output(4, "c"), node_index: 1 }, { end: {} }]),
    json(200, {}),
  );
  expect(await run()).toEqual(["started", "a", "b", "task_end", "c", "end"]);
  const bodies = server.seen.map(({ body }) => JSON.parse(body) as object);
  expect(bodies[0]).toEqual({ command: ["true"], resumable: true });
  const resume = { launch_id: "7.1.x.1", positions: [3, 0], call: 0 };
  expect(bodies.slice(1)).toEqual([{ resumable: true, resume }, { resumable: true, resume }, { finished: true }]);
  expect(server.seen.at(-1)?.url).toBe("/api/v1/allocations/7/launches/7.1.x.1");
});

test("a launch without a response is not repeated, and an unknown one is not resumed", async () => {
  server.answer(cut);
  await expect(run()).rejects.toMatchObject({ problem: { code: "connection_failed" } });
  expect(server.seen).toHaveLength(1);
  server.answer(lines([started], "cut"), json(404, { code: "unknown_launch", detail: "gone" }));
  await expect(run()).rejects.toMatchObject({ problem: { code: "unknown_launch" } });
});
