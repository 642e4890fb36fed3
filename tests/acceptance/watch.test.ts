// State changes as they happen, over server-sent events and gRPC, from any cursor still kept.
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GrpcClient, grpcClient } from "../harness/grpc.ts";
import { type EventStream, openEvents, type ServerEvent } from "../harness/sse.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1 });
let grpc: GrpcClient;
beforeAll(() => {
  grpc = grpcClient(cluster.grpcAddress);
});
afterAll(() => grpc.close());

const eventsUrl = (query = ""): string => `${cluster.apiUrl}/api/v1/events${query}`;

test("a watcher sees every state of an allocation, in order", async () => {
  const events = await openEvents(eventsUrl("?kinds=allocation_changed"));
  const id = await cluster.submit({ entrypoint: "true", name: "watched" });
  const seen = await until(events, (event) => event.data.to === "completed");
  events.close();
  const own = seen.filter((event) => event.data.allocation_id === id);
  expect(own.map((event) => event.data.to)).toEqual(expect.arrayContaining(["pending", "running", "completed"]));
  expect(own.at(-1)?.data).toMatchObject({ kind: "allocation_changed", to: "completed" });
  expect(own.map((event) => event.data.cursor)).toEqual(own.map((event) => event.id));
});

test("a watcher that reconnects gets exactly the events it missed", async () => {
  const first = await openEvents(eventsUrl());
  const before = await cluster.submit({ entrypoint: "true" });
  const seen = await until(first, (event) => event.data.allocation_id === before);
  first.close();
  await cluster.ends(before);
  const missed = await cluster.submit({ entrypoint: "true" });
  await cluster.ends(missed);

  const cursor = seen.at(-1)?.id ?? "";
  const again = await openEvents(eventsUrl(), { "last-event-id": cursor });
  const rest = await until(again, (event) => ended(event, missed));
  again.close();
  const byQuery = await openEvents(eventsUrl(`?cursor=${encodeURIComponent(cursor)}`));
  expect((await until(byQuery, (event) => ended(event, missed))).map(({ id }) => id)).toEqual(rest.map(({ id }) => id));
  byQuery.close();
  expect(new Set(rest.map((event) => event.id)).size).toBe(rest.length);
  expect(rest.some((event) => event.id === cursor)).toBe(false);
  expect(rest.some((event) => ended(event, before))).toBe(true);
});

test("gRPC sees the same events with the same cursors", async () => {
  const sse = await openEvents(eventsUrl());
  const marker = await cluster.submit({ entrypoint: "true" });
  const cursor = (await until(sse, (event) => event.data.allocation_id === marker)).at(-1)?.id ?? "";
  const id = await cluster.submit({ entrypoint: "true" });
  const bySse = await until(sse, (event) => ended(event, id));
  sse.close();
  const stream = grpc.watch({ cursor });
  const byGrpc: Record<string, unknown>[] = [];
  while (byGrpc.length < bySse.length) byGrpc.push(await stream.next());
  stream.cancel();
  expect(byGrpc.map((event) => event.cursor)).toEqual(bySse.map((event) => event.id));
  expect(byGrpc.map((event) => event.to)).toEqual(bySse.map((event) => event.data.to));
});

test("one allocation can be watched alone", async () => {
  const go = cluster.file("go");
  const id = await cluster.submit({ entrypoint: `until [ -e ${go} ]; do sleep 0.1; done` });
  const events = await openEvents(`${cluster.apiUrl}/api/v1/allocations/${id}/watch`);
  await cluster.submit({ entrypoint: "true" });
  writeFileSync(go, "");
  const seen = await until(events, (event) => ended(event, id));
  events.close();
  expect(new Set(seen.map((event) => event.data.allocation_id))).toEqual(new Set([id]));
});

test("events survive a restart of the server", async () => {
  const events = await openEvents(eventsUrl());
  const id = await cluster.submit({ entrypoint: "true" });
  const cursor = (await until(events, (event) => event.data.allocation_id === id)).at(-1)?.id ?? "";
  events.close();
  await cluster.ends(id);
  await cluster.server.kill();
  await cluster.startServer();
  const again = await openEvents(eventsUrl(), { "last-event-id": cursor });
  if (again.status === 200) await until(again, (event) => ended(event, id));
  else expect(again.status).toBe(410);
  again.close();
});

test("malformed and future cursors are refused", async () => {
  const broken = await cluster.api("GET", "/events?cursor=nonsense");
  expect(broken.status).toBe(400);
  expect(broken.body).toMatchObject({ code: "invalid_argument" });
});

const ended = (event: ServerEvent, id: string): boolean =>
  event.data.allocation_id === id && event.data.to === "completed";

async function until(events: EventStream, last: (event: ServerEvent) => boolean): Promise<readonly ServerEvent[]> {
  expect(events.status).toBe(200);
  const seen: ServerEvent[] = [];
  for (;;) {
    const event = await events.next();
    seen.push(event);
    if (last(event)) return seen;
  }
}
