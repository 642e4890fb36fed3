// Calls over both transports: paths, bodies, errors, retries.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createClient,
  createFetchTransport,
  createNodeTransport,
  LatticeError,
  type Submission,
} from "../src/index.ts";
import { cut, type FakeServer, json, type Seen, startFakeServer } from "./fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(() => server.close());

const quick = { firstDelayMs: 1, longestDelayMs: 2 };
const client = (options = {}) => createClient({ url: server.url, user: "ada", retry: quick, ...options });

const unavailable = json(503, { code: "not_leader", detail: "no leader", status: 503, retryable: true });

/** Of the body, or of the query where the call has no body. */
const requestIdOf = ({ body, url }: Seen): unknown =>
  body === "" ? new URL(url, server.url).searchParams.get("request_id") : JSON.parse(body).request_id;

const CHANGES: [name: string, call: (c: ReturnType<typeof client>) => Promise<unknown>][] = [
  ["cancel", (c) => c.cancel("1")],
  ["update", (c) => c.update("1", { name: "x" })],
  ["hold", (c) => c.hold("1")],
  ["checkpoint", (c) => c.checkpoint("1")],
  ["resume", (c) => c.resume("1")],
  ["dags.submit", (c) => c.dags.submit({ allocations: [] })],
  ["dags.cancel", (c) => c.dags.cancel("1")],
  ["sessions.create", (c) => c.sessions.create({ allocation_id: "1" })],
  ["sessions.end", (c) => c.sessions.end("1", { exit_code: 1 })],
  ["nodes.drain", (c) => c.nodes.drain("n1")],
  ["nodes.reportHealth", (c) => c.nodes.reportHealth("n1", { status: "ok" })],
  ["nodes.assign", (c) => c.nodes.assign("n1", "v")],
  ["tenants.create", (c) => c.tenants.create({ id: "p" })],
  ["vclusters.update", (c) => c.vclusters.update("v", {})],
  ["vclusters.delete", (c) => c.vclusters.delete("v")],
  ["members.add", (c) => c.members.add({ id: "server-4", peer_address: "h:9000" })],
  ["members.remove", (c) => c.members.remove("server-4")],
  ["members.transferLeader", (c) => c.members.transferLeader()],
  ["backups.create", (c) => c.backups.create()],
  ["signals.set", (c) => c.signals.set({})],
  ["images.warm", (c) => c.images.warm("i")],
  ["images.evict", (c) => c.images.evict("i")],
  ["config.set", (c) => c.config.set("k", "1")],
  ["grants.add", (c) => c.grants.add({ tenant: "p", user: "ada", role: "tenant_admin" })],
  ["grants.remove", (c) => c.grants.remove({ tenant: "p", user: "ada", role: "tenant_admin" })],
  ["jobKey.rotate", (c) => c.jobKey.rotate()],
  ["networks.setGrace", (c) => c.networks.setGrace("net", 60)],
];

describe.each([
  ["node", createNodeTransport],
  ["fetch", createFetchTransport],
])("over %s", (_name, createTransport) => {
  test("a call sends the identity and a body with a request id", async () => {
    server.answer(json(200, { id: "7", log_index: "12" }));
    const answer = await client({ transport: createTransport(), tenant: "physics" }).submit(
      { command: ["true"] },
      { requestId: "r1" },
    );
    expect(answer.id).toBe("7");
    expect(server.seen[0]).toMatchObject({ method: "POST", url: "/api/v1/allocations" });
    expect(server.seen[0]?.headers).toMatchObject({ "x-lattice-user": "ada", "x-lattice-tenant": "physics" });
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ command: ["true"], request_id: "r1" });
  });

  test("throws the server's problem", async () => {
    server.answer(
      json(404, { code: "unknown_allocation", detail: "allocation 9 does not exist", hint: "List them.", status: 404 }),
    );
    const error = await client({ transport: createTransport() })
      .get("9")
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LatticeError);
    expect((error as LatticeError).problem).toMatchObject({
      code: "unknown_allocation",
      detail: "allocation 9 does not exist",
      hint: "List them.",
    });
    expect((error as LatticeError).httpStatus).toBe(404);
  });

  test("reads raw logs piece by piece", async () => {
    server.answer((_request, response) => {
      response.writeHead(200);
      response.write(Buffer.from([0xff, 0x00]));
      response.end(Buffer.from("end"));
    });
    const chunks: number[] = [];
    for await (const chunk of client({ transport: createTransport() }).logs("7", { tail: 5 })) chunks.push(...chunk);
    expect(chunks).toEqual([0xff, 0x00, ...Buffer.from("end")]);
    expect(server.seen[0]?.url).toBe("/api/v1/allocations/7/logs?tail=5");
  });

  test("gives up after its time limit", async () => {
    server.answer(() => {});
    const call = client({ transport: createTransport(), timeoutMs: 50 }).get("1");
    await expect(call).rejects.toMatchObject({ problem: { code: "deadline_exceeded" } });
  });

  test("ends when aborted", async () => {
    server.answer(() => {});
    const stop = new AbortController();
    const call = client({ transport: createTransport() }).get("1", { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await expect(call).rejects.toMatchObject({ kind: "aborted" });
  });
});

describe("retries", () => {
  test("a read is repeated after 503 and after a cut connection", async () => {
    server.answer(unavailable, cut, json(200, { id: "1", state: "running" }));
    expect((await client().get("1")).state).toBe("running");
    expect(server.seen).toHaveLength(3);
  });

  describe("with several servers", () => {
    const noQuorum = json(503, { code: "log_unavailable", detail: "etcd has no leader", status: 503, retryable: true });
    /** Nothing listens there. */
    const DEAD = "http://127.0.0.1:9";
    const some = (urls: readonly string[]) => client({ url: urls.join(","), retry: { ...quick, retries: 3 } });

    test("the refusal of one is reported, not that another cannot be reached", async () => {
      server.answer(noQuorum);
      for (const urls of [
        [server.url, DEAD],
        [DEAD, server.url],
      ]) {
        const failure = some(urls).get("1");
        await expect(failure).rejects.toMatchObject({ httpStatus: 503, problem: { code: "log_unavailable" } });
      }
    });

    test("the refusal of a server that has died since is not reported", async () => {
      server.answer((request, response) => {
        response.on("finish", () => void server.close());
        noQuorum(request, response);
      });
      await expect(some([server.url]).get("1")).rejects.toMatchObject({ problem: { code: "connection_failed" } });
    });

    test("without any answer every address is named", async () => {
      const failure = some([DEAD, "http://127.0.0.1:10"]).get("1");
      await expect(failure).rejects.toMatchObject({
        problem: { code: "connection_failed", detail: expect.stringContaining(`${DEAD}, http://127.0.0.1:10`) },
      });
    });

    test("a connection that broke is reported after a refusal, too: the change may have happened", async () => {
      server.answer(noQuorum, cut);
      const failure = some([server.url]).submit({ command: ["true"] });
      await expect(failure).rejects.toMatchObject({
        problem: { code: "connection_failed", detail: expect.stringContaining("broke") },
      });
    });
  });

  test("a change with a request id is repeated with the same id", async () => {
    server.answer(cut, json(200, { id: "1" }));
    await client().submit({ command: ["true"] }, { requestId: "once" });
    expect(server.seen.map(({ body }) => JSON.parse(body).request_id)).toEqual(["once", "once"]);
  });

  test.each([
    ["a cut connection", cut],
    ["503", unavailable],
  ])("a submission after %s is repeated with the request id that was made for it", async (_name, failure) => {
    server.answer(failure, json(200, { id: "1" }));
    const one = client();
    await one.submit({ command: ["true"] });
    await one.submit({ command: ["true"] });
    const [first, again, other] = server.seen.map(({ body }) => JSON.parse(body).request_id);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test("a request id in the submission itself is kept", async () => {
    server.answer(json(200, { id: "1" }));
    await client().submit({ command: ["true"], request_id: "mine" } as Submission);
    expect(JSON.parse(server.seen[0]?.body ?? "").request_id).toBe("mine");
  });

  test.each(CHANGES)("%s carries a request id, and is repeated with it", async (_name, call) => {
    server.answer(cut, json(200, {}));
    await call(client());
    const [first, again] = server.seen.map(requestIdOf);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(again).toBe(first);
    expect(server.seen).toHaveLength(2);
  });

  test("a change that takes no request id is not repeated once it may have arrived", async () => {
    server.answer(cut, json(200, {}));
    await expect(client().backups.restore("b")).rejects.toMatchObject({ problem: { code: "connection_failed" } });
    expect(server.seen).toHaveLength(1);
  });

  test("a rate-limited call waits for the time of the Retry-After header", async () => {
    const slowly = { code: "rate_limited", detail: "slow down", status: 429, retryable: true };
    server.answer(json(429, slowly, { "retry-after": "1" }), json(200, {}));
    const startedAt = performance.now();
    await client().backups.create();
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(server.seen).toHaveLength(2);
  });

  test("a refusal is not repeated", async () => {
    server.answer(json(429, { code: "quota_exceeded", detail: "too many", status: 429 }));
    await expect(client().get("1")).rejects.toMatchObject({ problem: { code: "quota_exceeded" } });
    expect(server.seen).toHaveLength(1);
  });

  test("the last error is thrown after the last try", async () => {
    server.answer(unavailable);
    await expect(client({ retry: { ...quick, retries: 2 } }).get("1")).rejects.toMatchObject({
      problem: { code: "not_leader" },
    });
    expect(server.seen).toHaveLength(3);
  });

  test("no try starts after the deadline", async () => {
    server.answer(unavailable);
    const retry = { retries: 100, firstDelayMs: 10_000, longestDelayMs: 10_000, deadlineMs: 1 };
    await expect(client({ retry }).get("1")).rejects.toMatchObject({ problem: { code: "not_leader" } });
    expect(server.seen).toHaveLength(1);
  });

  test("a refused connection says how to start a cluster", async () => {
    const { url } = server;
    await server.close();
    const error = await createClient({ url, retry: quick })
      .health()
      .catch((thrown: unknown) => thrown);
    expect((error as LatticeError).problem).toMatchObject({
      code: "connection_failed",
      hint: "Is the cluster running? Start one with: lattice up",
    });
  });
});

test("a client reads its own writes", async () => {
  server.answer(json(200, { id: "1", log_index: "41" }), json(200, { id: "2", log_index: "40" }), json(200, {}));
  const one = client();
  await one.submit({}, { requestId: "a" });
  await one.submit({}, { requestId: "b" });
  await one.get("1");
  expect(server.seen.map(({ headers }) => headers["x-lattice-min-index"])).toEqual([undefined, "41", "41"]);
});

test("lists are walked page by page", async () => {
  server.answer(
    json(200, { allocations: [{ id: "3" }, { id: "2" }], next_page_token: "t" }),
    json(200, { allocations: [{ id: "1" }], next_page_token: "" }),
  );
  const ids: string[] = [];
  for await (const { id } of client().listAll({ state: ["running", "pending"], user: "ada" })) ids.push(id);
  expect(ids).toEqual(["3", "2", "1"]);
  expect(server.seen.map(({ url }) => url)).toEqual([
    "/api/v1/allocations?state=running&state=pending&user=ada&page_size=200",
    "/api/v1/allocations?state=running&state=pending&user=ada&page_size=200&page_token=t",
  ]);
});

test.each([
  ["nodes.drain", "POST /api/v1/nodes/n%2F1/drain", (c: ReturnType<typeof client>) => c.nodes.drain("n/1")],
  ["nodes.undrain", "POST /api/v1/nodes/n1/undrain", (c: ReturnType<typeof client>) => c.nodes.undrain("n1")],
  ["nodes.disable", "POST /api/v1/nodes/n1/disable", (c: ReturnType<typeof client>) => c.nodes.disable("n1")],
  ["nodes.enable", "POST /api/v1/nodes/n1/enable", (c: ReturnType<typeof client>) => c.nodes.enable("n1")],
  ["nodes.get", "GET /api/v1/nodes/n1", (c: ReturnType<typeof client>) => c.nodes.get("n1")],
  ["cancel", "POST /api/v1/allocations/1/cancel", (c: ReturnType<typeof client>) => c.cancel("1")],
  ["update", "PATCH /api/v1/allocations/1", (c: ReturnType<typeof client>) => c.update("1", { name: "x" })],
  ["tenants.create", "POST /api/v1/tenants", (c: ReturnType<typeof client>) => c.tenants.create({ id: "p" })],
  ["tenants.get", "GET /api/v1/tenants/p", (c: ReturnType<typeof client>) => c.tenants.get("p")],
  ["tenants.list", "GET /api/v1/tenants", (c: ReturnType<typeof client>) => c.tenants.list()],
  ["tenants.update", "PATCH /api/v1/tenants/p", (c: ReturnType<typeof client>) => c.tenants.update("p", {})],
  ["vclusters.create", "POST /api/v1/vclusters", (c: ReturnType<typeof client>) => c.vclusters.create({ id: "v" })],
  ["vclusters.get", "GET /api/v1/vclusters/v", (c: ReturnType<typeof client>) => c.vclusters.get("v")],
  ["vclusters.list", "GET /api/v1/vclusters", (c: ReturnType<typeof client>) => c.vclusters.list()],
  ["vclusters.update", "PATCH /api/v1/vclusters/v", (c: ReturnType<typeof client>) => c.vclusters.update("v", {})],
  ["networks.get", "GET /api/v1/networks/n%2F1", (c: ReturnType<typeof client>) => c.networks.get("n/1")],
  [
    "networks.get of a tenant",
    "GET /api/v1/networks/net?tenant=p",
    (c: ReturnType<typeof client>) => c.networks.get("net", { tenant: "p" }),
  ],
  ["clusterStatus", "GET /api/v1/raft/status", (c: ReturnType<typeof client>) => c.clusterStatus()],
  ["health", "GET /healthz", (c: ReturnType<typeof client>) => c.health()],
  ["ready", "GET /readyz", (c: ReturnType<typeof client>) => c.ready()],
])("%s calls %s", async (_name, expected, call) => {
  server.answer(json(200, {}));
  await call(client());
  expect(`${server.seen[0]?.method} ${server.seen[0]?.url}`).toBe(expected);
});

describe("several servers", () => {
  let other: FakeServer;
  beforeEach(async () => {
    other = await startFakeServer();
  });
  afterEach(() => other.close());
  const both = (first: string) => client({ url: `${first}, ${other.url}/` });

  test("an unreachable server is replaced by the next, which stays in use", async () => {
    await server.close();
    other.answer(json(200, { id: "7", log_index: "12" }));
    const several = both(server.url);
    // Nothing of it was sent: it is repeated even without a request id.
    expect(await several.members.transferLeader()).toMatchObject({ id: "7" });
    await several.get("7");
    expect(other.seen.map(({ method }) => method)).toEqual(["POST", "GET"]);
    expect(other.seen[1]?.headers).toMatchObject({ "x-lattice-min-index": "12" });
    server = await startFakeServer();
  });

  test("a server without a leader is replaced by the next", async () => {
    server.answer(unavailable);
    other.answer(json(200, { id: "7", log_index: "12" }));
    expect((await both(server.url).submit({ command: ["true"] }, { requestId: "r1" })).id).toBe("7");
    expect([server.seen.length, other.seen.length]).toEqual([1, 1]);
  });

  test("a rejected call is not sent to another server", async () => {
    server.answer(json(404, { code: "unknown_allocation", detail: "allocation 9 does not exist", status: 404 }));
    await expect(both(server.url).get("9")).rejects.toBeInstanceOf(LatticeError);
    expect(other.seen).toEqual([]);
  });
});

test.each([
  { rows: 0, cols: 80 },
  { rows: 24, cols: -1 },
  { rows: 2.5, cols: 80 },
  { rows: 24, cols: 4_097 },
  { rows: Number.NaN, cols: 80 },
])("a terminal of %j is refused before anything is sent", async (size) => {
  const error = await client()
    .attach("7", { size })
    .catch((thrown: unknown) => thrown);
  expect((error as LatticeError).problem).toMatchObject({
    code: "invalid_argument",
    detail: expect.stringContaining("from 1 to 4096"),
  });
  expect(server.seen).toEqual([]);
});
