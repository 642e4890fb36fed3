// Archived records from one server to another, over a real connection.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { type LogIndex, logIndex } from "@lattice/core";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { connectPeer, type PeerClient } from "../../src/peers/client.ts";
import { historySources, type Roster } from "../../src/peers/roster.ts";
import { type PeerServiceParts, peerService } from "../../src/peers/service.ts";
import { startHistoryFill } from "../../src/state/history/fill.ts";
import { type History, openHistory } from "../../src/state/history/index.ts";
import { finished, idOf } from "../state/history/records.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function historyOf(): Promise<History> {
  const dir = await mkdtemp(join(tmpdir(), "lattice-peers-"));
  const history = await openHistory({ dir });
  closers.push(async () => {
    await history.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 9 });
  });
  return history;
}

async function served(history: History, token: string): Promise<string> {
  const { definition, implementation } = peerService({ history, token } as PeerServiceParts);
  const server = new Server();
  server.addService(definition, implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  closers.push(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

function line(address: string, token: string): PeerClient {
  const client = connectPeer({ id: "s1", address, token, entryVersion: 2 }, credentials.createInsecure());
  closers.push(() => client.close());
  return client;
}

async function full(through: number): Promise<History> {
  const history = await historyOf();
  history.begin(logIndex(0));
  for (let index = 1; index <= through; index += 1) {
    void history.append([1, 2, 3].map((n) => ({ ...finished(index * 10 + n), index: logIndex(index) })));
    history.applied(logIndex(index));
  }
  return history;
}

test("a server with a gap gets all records from another", async () => {
  const whole = await full(500);
  const away = await historyOf();
  away.begin(logIndex(400));
  const client = line(await served(whole, "secret"), "secret");
  const roster: Roster = {
    others: () => [{ id: "s1", address: "", token: "secret", entryVersion: 2 }],
    readers: () => [{ id: "s1", entryVersion: 2 }],
    client: () => client,
    close: () => undefined,
  };
  const logger = pino({ level: "silent" });
  const fill = startHistoryFill({
    history: away,
    sources: () => historySources(roster, "s1"),
    clock: systemClock,
    logger,
  });
  await fill.done;
  expect(away.gap()).toBeNull();
  expect(await away.count()).toBe(1_200);
  expect(await away.get(idOf(4_003))).toEqual(finished(4_003).record);
  expect(await away.get(idOf(4_011))).toBeNull();
});

test("a server with a gap reports it, and still sends its records", async () => {
  const gappy = await historyOf();
  gappy.begin(logIndex(100));
  await gappy.append([{ ...finished(1), index: logIndex(101) }]);
  gappy.applied(logIndex(101));
  const client = line(await served(gappy, "secret"), "secret");
  const pages = [];
  for await (const page of client.readHistory(logIndex(50), logIndex(101), AbortSignal.timeout(60_000)))
    pages.push(page);
  expect(pages.map(({ whole, records }) => [whole, records.length])).toEqual([
    [false, 0],
    [false, 1],
  ]);
});

test("other callers and invalid ranges are refused; an interrupted stream does not look complete", async () => {
  const whole = await full(5);
  const address = await served(whole, "secret");
  const read = async (client: PeerClient, after: number, signal: AbortSignal) => {
    for await (const _page of client.readHistory(after as LogIndex, logIndex(5), signal));
  };
  const good = AbortSignal.timeout(60_000);
  await expect(read(line(address, "guess"), 0, good)).rejects.toMatchObject({ problem: { code: "forbidden" } });
  await expect(read(line(address, "secret"), Number.NaN, good)).rejects.toMatchObject({
    problem: { code: "invalid_argument" },
  });
  const stop = new AbortController();
  const stopped = read(line(address, "secret"), 0, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(stopped).rejects.toThrow();
});
