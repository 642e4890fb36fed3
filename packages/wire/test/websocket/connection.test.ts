// Two ends of a WebSocket over a line that delivers at once; what breaks the rules ends it.

import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { type ByteSocket, openConnection, type SocketMessage } from "../../src/websocket/connection.ts";
import { encodeFrame } from "../../src/websocket/frames.ts";

/** Two ends of a line that delivers at once. */
function line() {
  class End extends EventEmitter {
    other: End | null = null;
    ended = false;
    write(bytes: Uint8Array): boolean {
      this.other?.emit("data", bytes);
      return true;
    }
    end(): void {
      if (this.ended) return;
      this.ended = true;
      this.other?.emit("end");
    }
    destroy(): void {
      this.end();
      this.emit("close");
    }
    pause(): void {}
    resume(): void {}
  }
  const a = new End();
  const b = new End();
  a.other = b;
  b.other = a;
  return { a, b };
}

const options = (side: "client" | "server") => ({
  side,
  maxMessageBytes: 1_000,
  mask: () => new Uint8Array([9, 8, 7, 6]),
});

describe("connection", () => {
  test("texts and bytes pass in both directions, and a close carries its reason", async () => {
    const { a, b } = line();
    const client = openConnection(a as unknown as ByteSocket, options("client"));
    const server = openConnection(b as unknown as ByteSocket, options("server"));
    await client.sendText("grüße");
    await client.sendBinary(new Uint8Array([1, 2]));
    client.ping();
    const got = server.messages[Symbol.asyncIterator]();
    expect((await got.next()).value).toEqual({ kind: "text", text: "grüße" });
    expect((await got.next()).value).toEqual({ kind: "binary", bytes: new Uint8Array([1, 2]) });
    server.close(1000, "done");
    expect(await client.closed).toEqual({ code: 1000, reason: "done" });
    expect((await got.next()).done).toBe(true);
  });

  test("fragments form one message", async () => {
    const { a, b } = line();
    const server = openConnection(b as unknown as ByteSocket, options("server"));
    const mask = new Uint8Array([1, 1, 1, 1]);
    const first = encodeFrame("text", Buffer.from("one "), mask);
    first[0] = 0x01;
    a.write(first);
    a.write(encodeFrame("continuation", Buffer.from("message"), mask));
    const got: SocketMessage = (await server.messages[Symbol.asyncIterator]().next()).value;
    expect(got).toEqual({ kind: "text", text: "one message" });
  });

  test.each([
    ["a piece without a beginning", encodeFrame("continuation", Buffer.from("x"), new Uint8Array(4))],
    ["what is not UTF-8", encodeFrame("text", new Uint8Array([0xff, 0xfe]), new Uint8Array(4))],
    ["noise", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  ])("%s ends it", async (_what, bytes) => {
    const { a, b } = line();
    const server = openConnection(b as unknown as ByteSocket, options("server"));
    a.write(bytes);
    expect(await server.closed).toMatchObject({ code: 0 });
    expect((await server.messages[Symbol.asyncIterator]().next()).done).toBe(true);
  });
});
