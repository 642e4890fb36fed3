// The log streams of a node are shared fairly: one user with many readers leaves streams to others.
import { EventEmitter } from "node:events";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, expect, test, vi } from "vitest";
import { logStreams } from "../../src/logs/log-streams.ts";

const client = new Client("127.0.0.1:1", credentials.createInsecure());
afterAll(() => client.close());

/** Counts the streams that were refused: their only message says so. */
function sharing() {
  let refused = 0;
  vi.spyOn(client, "makeClientStreamRequest").mockImplementation((() => {
    const call = new EventEmitter() as EventEmitter & Record<string, unknown>;
    Object.assign(call, {
      write(chunk: { busy?: boolean }) {
        if (chunk.busy === true) refused += 1;
      },
      end: () => undefined,
      cancel: () => undefined,
    });
    return call;
  }) as never);
  const streams = logStreams();
  let last = 0;
  const open = (user: string, allocationId: string): void => {
    last += 1;
    const request = { streamId: `s${last}`, tail: 0, follow: true, offset: 0, start: 0, path: "/nowhere" };
    streams.open(client, { ...request, time: { sinceMs: 0, untilMs: 0 }, live: () => true }, { user, allocationId });
  };
  return { open, refusals: () => refused };
}

test("a user cannot take all log streams of a node", () => {
  const { open, refusals } = sharing();
  for (let n = 0; n < 500; n += 1) open("mallory", String(n));
  expect(refusals()).toBe(500 - 64);
  for (let n = 0; n < 40; n += 1) open("bob", "x");
  expect(refusals()).toBe(500 - 64);
});

test("one allocation cannot take the whole share of its user", () => {
  const { open, refusals } = sharing();
  for (let n = 0; n < 60; n += 1) open("mallory", "7");
  expect(refusals()).toBe(60 - 48);
  open("mallory", "8");
  expect(refusals()).toBe(60 - 48);
});
