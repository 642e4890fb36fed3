// When a port proves that its process has ended: only if it was reached before and refuses now.

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { untilGone } from "../../src/peers/until-gone.ts";

interface Listener {
  readonly port: number;
  readonly sockets: Set<Socket>;
  /** As when the process dies: the listener and all connections at once. */
  die(): Promise<void>;
}

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.die();
});

async function listen(port = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  const listener: Listener = {
    port: (server.address() as AddressInfo).port,
    sockets,
    die: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  listeners.push(listener);
  return listener;
}

function watch(name: string) {
  const stop = new AbortController();
  let verdict: "none" | "gone" | "stopped" = "none";
  const ended = untilGone(name, stop.signal).then(
    () => {
      verdict = "gone";
    },
    () => {
      verdict = "stopped";
    },
  );
  return { stop, ended, verdict: () => verdict };
}

const nameOf = (port: number): string => `server-1 127.0.0.1:${port} token 1`;

async function reached(listener: Listener): Promise<void> {
  while (listener.sockets.size === 0) await sleep(5);
}

describe("a server process has ended", () => {
  it("when its port was reached, and then refuses", async () => {
    const listener = await listen();
    const watched = watch(nameOf(listener.port));
    await reached(listener);
    expect(watched.verdict()).toBe("none");
    await listener.die();
    await watched.ended;
    expect(watched.verdict()).toBe("gone");
  });

  it("not when only the connection closes", async () => {
    const listener = await listen();
    const watched = watch(nameOf(listener.port));
    for (let n = 0; n < 5; n += 1) {
      await reached(listener);
      for (const socket of listener.sockets) socket.destroy();
      while (listener.sockets.size > 0) await sleep(5);
    }
    await reached(listener);
    expect(watched.verdict()).toBe("none");
    watched.stop.abort();
    await watched.ended;
    expect(watched.verdict()).toBe("stopped");
  });

  it("not when its port was never reached", async () => {
    const listener = await listen();
    await listener.die();
    const watched = watch(nameOf(listener.port));
    await sleep(400);
    expect(watched.verdict()).toBe("none");
    watched.stop.abort();
    await watched.ended;
    expect(watched.verdict()).toBe("stopped");
  });

  it("never without an address", async () => {
    const watched = watch("server-1");
    await sleep(20);
    expect(watched.verdict()).toBe("none");
    watched.stop.abort();
    await watched.ended;
    expect(watched.verdict()).toBe("stopped");
  });
});
