// The stream to the servers: what is buffered, when it is tried again, and what is said on it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { backoff, isTransient, RECONNECT } from "../../src/link/backoff.ts";
import { parseServer } from "../../src/link/dial.ts";
import { reportBuffer } from "../../src/link/reports.ts";
import { type FakeServer, fakeServer, found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

describe("the report buffer", () => {
  const of = (allocationId: string) => ({ allocationId, attempt: 1 });
  const running = { kind: "running", atMs: 1 } as const;
  const end = { kind: "end", end: { kind: "completed", exitCode: 0, message: "", atMs: 2 } } as const;

  test("keeps the newest of each attempt, in order of number", () => {
    const buffer = reportBuffer();
    buffer.add("1.1", { ...of("1"), body: running });
    buffer.add("2.1", { ...of("2"), body: running });
    buffer.add("1.1", { ...of("1"), body: end });
    expect(buffer.pending().map((r) => [r.number, r.allocationId, r.body.kind])).toEqual([
      [2, "2", "running"],
      [3, "1", "end"],
    ]);
  });

  test("only the number of the end acknowledges the end", () => {
    const buffer = reportBuffer();
    buffer.add("1.1", { ...of("1"), body: running });
    buffer.add("1.1", { ...of("1"), body: end });
    expect(buffer.acknowledge(1)).toBeNull();
    expect(buffer.pending()).toHaveLength(1);
    expect(buffer.acknowledge(2)).toBe("1.1");
    expect(buffer.pending()).toHaveLength(0);
    expect(buffer.acknowledge(2)).toBeNull();
  });

  test("is bounded, and drops running reports before ends", () => {
    const buffer = reportBuffer(3);
    buffer.add("1.1", { ...of("1"), body: end });
    buffer.add("2.1", { ...of("2"), body: running });
    buffer.add("3.1", { ...of("3"), body: end });
    buffer.add("4.1", { ...of("4"), body: end });
    expect(buffer.pending().map((r) => r.allocationId)).toEqual(["1", "3", "4"]);
    buffer.add("5.1", { ...of("5"), body: end });
    expect(buffer.pending().map((r) => r.allocationId)).toEqual(["3", "4", "5"]);
  });
});

test("backoff doubles up to its ceiling, half of it random", () => {
  const low = backoff({ firstMs: 100, ceilingMs: 400 }, () => 0);
  expect([low.next(), low.next(), low.next(), low.next()]).toEqual([50, 100, 200, 200]);
  low.reset();
  expect(low.next()).toBe(50);
  expect(backoff({ firstMs: 100, ceilingMs: 400 }, () => 0.999).next()).toBeCloseTo(99.95);
});

test.each([
  ["closed", true],
  ["log_unavailable", true],
  ["not_leader", true],
  ["storage_full", true],
  ["shutting_down", true],
  ["protocol_too_old", false],
  ["invalid_argument", false],
])("the refusal %s heals by itself: %s", (code, transient) => expect(isTransient(code)).toBe(transient));

test.each([
  ["a:1", "a:1"],
  ["http://h.example:50051/", "h.example:50051"],
  ["https://a:1", "a:1"],
  ["[::1]:50051", "[::1]:50051"],
])("server address %s", (text, address) => expect(parseServer(text)).toBe(address));

test.each(["a", "a:0", "a:70000", "ftp://a:1", ""])("not a server address: %s", (text) => {
  expect(() => parseServer(text)).toThrow("host:port");
});

describe("the link", () => {
  let r: Rig | null = null;
  let other: FakeServer | null = null;
  afterEach(async () => {
    await r?.close();
    await other?.close();
    r = null;
    other = null;
  });

  test("the Hello lists found attempts, and heartbeats are numbered", async () => {
    r = await rig({ options: { hardware: { features: ["b", "a"], gpuCount: 4, gpuType: "H200", cpuCores: 12 } } });
    const { server } = r;
    await found(() => server.heartbeats.length >= 4);
    expect(server.hellos[0]).toMatchObject({
      nodeId: "n1",
      group: "g1",
      agentVersion: "test",
      protocolVersion: 1,
      capabilities: { cpuCores: 12, gpuCount: 4, gpuType: "H200", features: ["a", "b"], hollow: false },
    });
    expect(server.hellos[0]?.conformance).toMatch(/^[0-9a-f]{64}$/);
    const sequence = server.heartbeats.map((beat) => beat.sequence);
    expect(sequence).toEqual(sequence.map((_, n) => n + 1));
    expect(server.heartbeats.at(-1)?.memoryAvailableGb).toBeGreaterThan(0);
  });

  test("the link reconnects and repeats unacknowledged reports", async () => {
    r = await rig();
    const { server } = r;
    server.settings.acknowledge = false;
    server.run({ allocationId: "1", command: ["true"] });
    const first = await server.end("1");
    server.reports.length = 0;
    server.disconnect();
    expect(await server.end("1")).toMatchObject({ number: first.number });
    expect(server.hellos).toHaveLength(2);
    server.settings.acknowledge = true;
    server.disconnect();
    const ended = join(r.dataDir, "ended", "1.1");
    // An acknowledged end is put aside; only then may the stream be cut without hearing of it again.
    await found(() => server.hellos.length === 3 && existsSync(ended));
    server.disconnect();
    await found(() => server.hellos.length === 4);
    expect(server.hellos.at(-1)?.attempts).toEqual([]);
  });

  test("an unreachable server is replaced by the next", async () => {
    other = await fakeServer();
    r = await rig({ options: { servers: ["127.0.0.1:1", other.address] } });
    expect(other.connected()).toBe(1);
  });

  test("a refused agent retries later", async () => {
    r = await rig();
    const { server, agent } = r;
    server.settings.refuse = "invalid_argument";
    server.disconnect();
    await found(() => server.hellos.length === 2);
    await found(() => agent.connected() === 0);
    server.settings.refuse = null;
    await found(() => agent.connected() === 1);
    expect(server.hellos).toHaveLength(3);
  });

  test("a refusal caused by the server is retried soon and is no error", async () => {
    const heard: { level: string; code?: string; wait_ms?: number }[] = [];
    const log = pino(
      { level: "info", formatters: { level: (label) => ({ level: label }) } },
      { write: (line) => void heard.push(JSON.parse(line)) },
    );
    r = await rig({ log });
    const { server, agent } = r;
    server.settings.refuse = "not_leader";
    server.disconnect();
    const refused = () => heard.filter((line) => line.code === "not_leader");
    await found(() => refused().length >= 2);
    server.settings.refuse = null;
    await found(() => agent.connected() === 1);
    const lines = refused();
    expect(lines.map((line) => line.level)).toEqual(["warn", ...lines.slice(1).map(() => "info")]);
    // The waits after a cut, not those of an agent that is not wanted.
    expect(lines[0]?.wait_ms).toBeLessThanOrEqual(2 * RECONNECT.firstMs);
    expect(heard.some((line) => line.level === "error")).toBe(false);
  });
});
