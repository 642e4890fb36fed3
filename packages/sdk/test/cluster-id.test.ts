// A client that names its cluster: the name is in every request, and an answer of another cluster is refused.

import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "../src/index.ts";
import { type FakeServer, json, startFakeServer } from "./fake-server.ts";

const OWN = "a".repeat(32);
const OTHER = "b".repeat(32);

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(() => server.close());

const answering = (cluster?: string) =>
  server.answer(json(200, { id: "7" }, cluster === undefined ? {} : { "x-lattice-cluster": cluster }));

test.each([
  ["the same cluster", OWN],
  ["a cluster that was restored into this one", `${OTHER},${OWN}`],
  ["no cluster yet", undefined],
])("an answer of %s is accepted", async (_what, cluster) => {
  answering(cluster);
  await createClient({ url: server.url, clusterId: OWN }).get("7");
  expect(server.seen[0]?.headers["x-lattice-cluster"]).toBe(OWN);
});

test("an answer of another cluster is refused, and not retried", async () => {
  answering(OTHER);
  const client = createClient({ url: server.url, clusterId: OWN });
  await expect(client.submit({ entrypoint: "true" })).rejects.toMatchObject({
    problem: { code: "foreign_cluster", detail: expect.stringContaining(`belongs to cluster ${OTHER}`) },
  });
  expect(server.seen).toHaveLength(1);
});

test("without a name every cluster is accepted", async () => {
  answering(OTHER);
  await createClient({ url: server.url }).get("7");
  expect(server.seen[0]?.headers["x-lattice-cluster"]).toBeUndefined();
});

test("a name that is no identity is refused at once", () => {
  expect(() => createClient({ url: server.url, clusterId: "prod" })).toThrow("not 32 hexadecimal digits");
});
