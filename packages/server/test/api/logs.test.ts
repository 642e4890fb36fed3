// Logs over REST and gRPC: which node, stream and attempt are read, how a follower moves to the next attempt, and that
// a slow reader slows the source instead of filling memory.

import { get, type IncomingMessage } from "node:http";
import { create } from "@bufbuild/protobuf";
import { type AllocationId, attempt } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LogsQuery } from "../../src/nodes/output/query.ts";
import { callHttp, callRest, type Running, startTestApi, streamGrpc } from "./clients.ts";
import { provesCalls } from "./proven-calls.ts";

provesCalls(import.meta.url);

let running: Running;
beforeEach(async () => {
  asked.length = 0;
  running = await startTestApi();
  running.plane.addNode("n1");
  running.plane.addNode("n2");
  await callRest(running, { method: "POST", path: "/v1/allocations", body: "{entrypoint: hostname, nodes: 2}" });
});
afterEach(async () => {
  await running.close();
});

/** Every log names its source. */
const asked: string[] = [];
const saysItself = async function* (query: LogsQuery) {
  asked.push(`${query.node} ${query.attempt}`);
  const data = Buffer.from(`${query.node} ${query.stream} ${query.attempt} ${query.tail}\n`);
  yield { data, offset: data.length };
};

describe("GetLogs", () => {
  test("all nodes one after another, stdout before stderr, raw by default", async () => {
    running.plane.start("1", ["n1", "n2"]);
    running.plane.output = saysItself;
    const { text, headers } = await callHttp(running, { path: "/api/v1/allocations/1/logs?tail=5" });
    expect(text).toBe("n1 stdout 1 5\nn1 stderr 1 5\nn2 stdout 1 5\nn2 stderr 1 5\n");
    expect(headers["content-type"]).toContain("text/plain");
  });

  test("one node, one stream, as JSON lines", async () => {
    running.plane.start("1", ["n1", "n2"]);
    running.plane.output = saysItself;
    const { text } = await callHttp(running, {
      path: "/api/v1/allocations/1/logs?node=n2&stream=stderr",
      headers: { accept: "application/x-ndjson" },
    });
    const chunk = JSON.parse(text);
    expect(chunk).toMatchObject({ node: "n2", stream: "stderr", offset: "14" });
    expect(Buffer.from(chunk.data, "base64").toString()).toBe("n2 stderr 1 0\n");
  });

  test("missing output is a line in raw bytes and a field in chunks, and is not reported for the last lines", async () => {
    running.plane.start("1", ["n1", "n2"]);
    running.plane.output = async function* () {
      yield { data: Buffer.from("seven\n"), offset: 106 };
      yield { data: Buffer.from("eight\n"), offset: 112 };
      yield { data: Buffer.from("ten\n"), offset: 200 };
    };
    const path = "/v1/allocations/1/logs?node=n1&stream=stdout";
    const gap = (bytes: number) => `[lattice: ${bytes} bytes of earlier output are no longer kept on n1]\n`;
    expect((await callHttp(running, { path })).text).toBe(`${gap(100)}seven\neight\n${gap(84)}ten\n`);
    expect((await callHttp(running, { path: `${path}&offset=100` })).text).toBe(`seven\neight\n${gap(84)}ten\n`);
    expect((await callHttp(running, { path: `${path}&tail=9` })).text).toBe(`seven\neight\n${gap(84)}ten\n`);
    const { text } = await callHttp(running, { path: `${path}&format=ndjson` });
    const pieces = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(pieces.map(({ skipped, offset }) => [skipped, offset])).toEqual([
      ["100", "106"],
      ["", "112"],
      ["84", "200"],
    ]);
  });

  test("the log of pending work is empty", async () => {
    expect(await callHttp(running, { path: "/v1/allocations/1/logs" })).toMatchObject({ status: 200, text: "" });
  });

  test.each([
    ["/v1/allocations/9/logs", "unknown_allocation"],
    ["/v1/allocations/1/logs?attempt=7", "invalid_argument"],
    ["/v1/allocations/1/logs?node=n9", "invalid_argument"],
    ["/v1/allocations/1/logs?format=xml", "invalid_argument"],
  ])("%s: %s", async (path, code) => {
    running.plane.start("1", ["n1", "n2"]);
    expect(await callRest(running, { path })).toMatchObject({ problem: { code } });
  });

  test("a disconnected node is 503", async () => {
    running.plane.start("1", ["n1", "n2"]);
    running.plane.output = async function* () {
      yield* [];
      throw new ProblemError("node_unreachable");
    };
    expect(await callRest(running, { path: "/v1/allocations/1/logs" })).toMatchObject({
      problem: { code: "node_unreachable", status: 503, retryable: true },
    });
  });
});

describe("StreamLogs", () => {
  const follow = async () => {
    let text = "";
    for await (const chunk of streamGrpc(
      running,
      "AllocationService.StreamLogs",
      create(pb.LogsRequestSchema, { id: "1", stream: pb.LogStream.STDOUT }),
    ))
      text += Buffer.from((chunk as pb.LogChunk).data).toString();
    return text;
  };

  test("waits for the start, follows all nodes, and ends with the allocation", async () => {
    running.plane.output = async function* (query) {
      yield* saysItself(query);
    };
    const text = follow();
    await new Promise((resolve) => setTimeout(resolve, 30));
    running.plane.start("1", ["n1", "n2"]);
    await expect.poll(() => asked).toEqual(expect.arrayContaining(["n1 1", "n2 1"]));
    running.plane.finish("1", 0);
    expect((await text).split("\n").sort()).toEqual(["", "n1 stdout 1 0", "n2 stdout 1 0"]);
  });

  test("continues with the next attempt", async () => {
    running.plane.output = saysItself;
    running.plane.start("1", ["n1", "n2"]);
    const text = follow();
    await expect.poll(() => asked).toEqual(expect.arrayContaining(["n1 1", "n2 1"]));
    const { outcomes } = running.plane.apply({
      kind: "allocation.requeue",
      allocation: "1" as AllocationId,
      expectedRequeues: 0,
      cause: "policy",
    });
    expect(outcomes[0]?.kind).toBe("accepted");
    release("n1");
    release("n2");
    running.plane.start("1", ["n1", "n2"]);
    await expect.poll(() => asked).toEqual(expect.arrayContaining(["n1 2", "n2 2"]));
    running.plane.finish("1", 0);
    expect((await text).split("\n").sort()).toEqual([
      "",
      "n1 stdout 1 0",
      "n1 stdout 2 0",
      "n2 stdout 1 0",
      "n2 stdout 2 0",
    ]);
    // The nodes of an earlier attempt are known.
    const before = await callHttp(running, { path: "/v1/allocations/1/logs?attempt=1&stream=stdout" });
    expect(before.text).toBe("n1 stdout 1 0\nn2 stdout 1 0\n");
  });

  test("requests the log again when a node reconnects, without repeating anything", async () => {
    running.plane.start("1", ["n1", "n2"]);
    let tries = 0;
    running.plane.output = async function* (query) {
      if (query.node !== "n1") return;
      tries += 1;
      yield { data: Buffer.from("one "), offset: 4 };
      if (tries === 1) throw new ProblemError("node_unreachable");
      yield { data: Buffer.from("two"), offset: 7 };
      running.plane.finish("1", 0);
    };
    expect(await follow()).toBe("one two");
    expect(tries).toBe(2);
  });

  test("a node that stays disconnected after the end is an error", async () => {
    running.plane.start("1", ["n1", "n2"]);
    running.plane.finish("1", 0);
    running.plane.output = async function* () {
      yield* [];
      throw new ProblemError("node_unreachable");
    };
    await expect(follow()).rejects.toMatchObject({ code: 14 });
  });

  test("a named attempt is followed alone", async () => {
    running.plane.start("1", ["n1", "n2"]);
    running.plane.output = saysItself;
    const { text } = await callHttp(running, { path: "/v1/allocations/1/logs/stream?attempt=1&node=n1&stream=stdout" });
    expect(text).toBe("n1 stdout 1 0\n");
  });

  function release(node: string): void {
    running.plane.apply({
      kind: "attempt.report",
      node: node as never,
      allocation: "1" as AllocationId,
      attempt: attempt(1),
      state: "failed",
      exitCode: null,
      reason: "stopped",
      message: "",
    });
  }
});

describe("backpressure", () => {
  const CHUNK = 64 * 1024;
  const CHUNKS = 3_200; // 200 MB

  /** Counts the chunks that were read. */
  function endless() {
    const taken = { chunks: 0, ended: false };
    const block = Buffer.alloc(CHUNK, "x");
    running.plane.output = async function* (query) {
      if (query.node !== "n1" || query.stream !== "stdout") return;
      try {
        for (let i = 1; i <= CHUNKS; i++) {
          taken.chunks = i;
          yield { data: block, offset: i * CHUNK };
        }
      } finally {
        taken.ended = true;
      }
    };
    return taken;
  }

  const open = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get(`${running.rest}${path}`, { agent: false }, resolve).on("error", reject);
    });

  /** Waits until the count is stable. */
  async function settled(taken: { chunks: number }): Promise<number> {
    for (;;) {
      const before = taken.chunks;
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (taken.chunks === before && before > 0) return before;
    }
  }

  test("a reader that stops stops the source; one that disconnects ends it", async () => {
    running.plane.start("1", ["n1", "n2"]);
    const taken = endless();
    const response = await open("/v1/allocations/1/logs");
    response.pause();
    // Only what fits into the buffers of both sockets.
    expect(await settled(taken)).toBeLessThan(CHUNKS / 4);
    response.destroy();
    await expect.poll(() => taken.ended).toBe(true);
  });

  test("200 MB pass whole", async () => {
    running.plane.start("1", ["n1", "n2"]);
    endless();
    const response = await open("/v1/allocations/1/logs");
    let bytes = 0;
    for await (const part of response) bytes += (part as Buffer).length;
    expect(bytes).toBe(CHUNK * CHUNKS);
  });

  test("over gRPC likewise", async () => {
    running.plane.start("1", ["n1", "n2"]);
    const taken = endless();
    const stop = new AbortController();
    const stream = streamGrpc(
      running,
      "AllocationService.GetLogs",
      create(pb.LogsRequestSchema, { id: "1" }),
      stop.signal,
    );
    await stream.next();
    expect(await settled(taken)).toBeLessThan(CHUNKS / 4);
    stop.abort();
    await expect.poll(() => taken.ended).toBe(true);
    await stream.next().catch(() => undefined);
  });
});
