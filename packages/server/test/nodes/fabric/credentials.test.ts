// The client of the fabric manager against a manager in another process, with all its failures.
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { FABRIC_PATHS, type FakeManager, startFakeManager } from "../../../../../tests/doubles/fabric.ts";
import { type FabricManager, fabricManager } from "../../../src/nodes/fabric/credentials.ts";

let fake: FakeManager;
let client: FabricManager;
const counts: string[] = [];
const never = new AbortController().signal;
const surroundings = {
  logger: pino({ level: "silent" }),
  counted: (operation: string, result: string) => void counts.push(`${operation} ${result}`),
};
const request = (name: string) => ({ name, allocationId: "7", nodes: ["n1", "n2"], vni: null });

beforeAll(async () => {
  fake = await startFakeManager("secret");
  client = fabricManager(
    { url: fake.url, token: "secret", timeoutMs: 2_000, owner: "lattice", ...FABRIC_PATHS },
    surroundings,
  );
});
afterEach(async () => {
  await fake.faults([]);
  counts.length = 0;
});
afterAll(() => {
  client.close();
  fake.close();
});

test("credentials are issued and revoked", async () => {
  const given = await client.issue(request("a"), never);
  expect(given).toMatchObject({ vni: 1234, svcId: Number(given.serviceId) + 100 });
  expect(Buffer.from(given.authKey).toString("hex")).toBe(`c0ffee0${given.serviceId}`);
  expect((await fake.seen()).services).toMatchObject([{ nodes: ["n1", "n2"], allocation: "7" }]);
  await client.revoke(given.serviceId);
  await client.revoke(given.serviceId);
  expect((await fake.seen()).services).toEqual([]);
  expect(counts).toEqual(["create done", "auth done", "revoke done", "revoke done"]);
});

test("the VNI of an existing network is requested", async () => {
  const given = await client.issue({ ...request("b"), vni: 2001 }, never);
  expect(given.vni).toBe(2001);
  await client.revoke(given.serviceId);
});

test("a failing manager is retried and creates one service", async () => {
  await fake.faults([
    { call: "POST", times: 1, status: 503 },
    { call: "POST", times: 1, kind: "cut" },
    { call: "GET auth", times: 1, kind: "silent" },
    { call: "DELETE", times: 1, status: 500 },
  ]);
  const given = await client.issue(request("c"), never);
  expect((await fake.seen()).services).toHaveLength(1);
  await client.revoke(given.serviceId);
  expect((await fake.seen()).services).toEqual([]);
});

test.each([
  ["refuses", { call: "POST", times: 1, status: 403 }, "it answers 403"],
  ["stays unwell", { call: "POST", times: 9, status: 500 }, "it answers 500"],
  ["stays silent", { call: "POST", times: 9, kind: "silent" }, "it does not answer in time"],
  ["gives no id", { call: "POST", times: 1, status: 200, body: {} }, "a service without an id"],
  ["gives no key", { call: "GET auth", times: 1, status: 200, body: { auth_key: "xyz" } }, "no key in hexadecimal"],
  ["talks nonsense", { call: "GET auth", times: 9, status: 200 }, "is not valid JSON"],
] as const)("one that %s: a problem, and nothing is kept", async (_name, fault, message) => {
  await fake.faults([fault]);
  await expect(client.issue(request("d"), never)).rejects.toMatchObject({
    problem: { code: "fabric_unavailable", detail: expect.stringContaining(message) },
  });
  await expect.poll(async () => (await fake.seen()).services).toEqual([]);
});

test("an absent manager is an error, and an aborted call ends", async () => {
  const away = fabricManager(
    { url: "http://127.0.0.1:64999", token: null, timeoutMs: 300, owner: "lattice", ...FABRIC_PATHS },
    surroundings,
  );
  await expect(away.issue(request("e"), never)).rejects.toThrow("ECONNREFUSED");
  const gone = AbortSignal.abort();
  await expect(client.issue(request("f"), gone)).rejects.toThrow("gives no credentials");
});
