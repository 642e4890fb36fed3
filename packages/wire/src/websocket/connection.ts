// One end of a WebSocket over a socket that the caller has: whole messages out of frames, pings
// answered, the closing said once. It holds no timer; whoever wants signs of life sends pings and
// looks at `heardAt`. The same code serves both ends, so that they cannot disagree.

import { CLOSE, encodeFrame, type Frame, FrameError, frameReader, type Opcode } from "./frames.ts";

/** What is needed of a socket. */
export interface ByteSocket {
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  pause(): unknown;
  resume(): unknown;
  on(event: "data", listener: (bytes: Uint8Array) => void): unknown;
  on(event: "close" | "end" | "error" | "drain", listener: () => void): unknown;
}

export type SocketMessage =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array };

export interface WebSocketOptions {
  readonly side: "client" | "server";
  readonly maxMessageBytes: number;
  /** Four unpredictable bytes for every frame of a client. */
  readonly mask: () => Uint8Array;
}

export interface WebSocketConnection {
  /** Every message until the other side closes or is gone. One reader. */
  readonly messages: AsyncIterable<SocketMessage>;
  /** Resolves when the socket has room for more. */
  sendText(text: string): Promise<void>;
  sendBinary(bytes: Uint8Array): Promise<void>;
  ping(): void;
  /** When the other side was last heard, by the steady clock. */
  heardAt(): number;
  /** Says why and lets the socket go. */
  close(code: number, reason: string): void;
  /** Resolves when the socket is gone, with the code and the reason the other side gave; code 0: none. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Messages that nobody has taken; beyond, the socket is not read. */
const MAX_WAITING = 16;

export function openConnection(socket: ByteSocket, options: WebSocketOptions): WebSocketConnection {
  const { side, maxMessageBytes } = options;
  const read = frameReader({ from: side === "client" ? "server" : "client", maxPayloadBytes: maxMessageBytes });
  const waiting: SocketMessage[] = [];
  let parts: { readonly opcode: Opcode; readonly pieces: Uint8Array[]; length: number } | null = null;
  let wake: () => void = () => undefined;
  let roomWaiters: (() => void)[] = [];
  let over = false;
  let closeSent = false;
  let heard = performance.now();
  let said = { code: 0, reason: "" };
  let resolveClosed: (end: typeof said) => void = () => undefined;
  const closed = new Promise<typeof said>((resolve) => {
    resolveClosed = resolve;
  });

  const write = (opcode: Opcode, payload: Uint8Array): boolean =>
    over || socket.write(encodeFrame(opcode, payload, side === "client" ? options.mask() : null));

  function close(code: number, reason: string): void {
    if (closeSent || over) return;
    closeSent = true;
    write("close", closePayload(code, reason));
    socket.end();
    wake();
  }

  function finish(): void {
    if (over) return;
    over = true;
    wake();
    giveRoom();
    resolveClosed(said);
  }

  function giveRoom(): void {
    const all = roomWaiters;
    roomWaiters = [];
    for (const resolve of all) resolve();
  }

  function take({ opcode, final, payload }: Frame): void {
    // Nobody waits for more than the other side's own end.
    if (closeSent && opcode !== "close") return;
    if (opcode === "ping") return void write("pong", payload);
    if (opcode === "pong") return;
    if (opcode === "close") {
      said = readClose(payload);
      close(said.code === 0 ? CLOSE.normal : said.code, "");
      return;
    }
    if ((opcode === "continuation") !== (parts !== null)) throw new FrameError(CLOSE.protocol, "pieces out of order");
    parts ??= { opcode, pieces: [], length: 0 };
    parts.pieces.push(payload);
    parts.length += payload.length;
    if (parts.length > maxMessageBytes) throw new FrameError(CLOSE.tooBig, `a message over ${maxMessageBytes} bytes`);
    if (!final) return;
    waiting.push(messageOf(parts.opcode, parts.pieces));
    parts = null;
    if (waiting.length >= MAX_WAITING) socket.pause();
    wake();
  }

  socket.on("data", (bytes) => {
    // What comes after the end is no sign of life.
    if (!closeSent) heard = performance.now();
    try {
      for (const frame of read(bytes)) take(frame);
    } catch (error) {
      const known = error instanceof FrameError ? error : new FrameError(CLOSE.protocol, "not a WebSocket frame");
      close(known.code, known.message);
      socket.destroy();
    }
  });
  socket.on("drain", giveRoom);
  socket.on("end", () => {
    socket.end();
    finish();
  });
  socket.on("error", finish);
  socket.on("close", finish);

  async function* messages(): AsyncGenerator<SocketMessage> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) {
        if (waiting.length === 0) socket.resume();
        yield next;
        continue;
      }
      if (over || closeSent) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  function send(opcode: Opcode, payload: Uint8Array): Promise<void> {
    if (write(opcode, payload)) return Promise.resolve();
    return new Promise((resolve) => roomWaiters.push(resolve));
  }

  return {
    messages: messages(),
    sendText: (text) => send("text", new TextEncoder().encode(text)),
    sendBinary: (bytes) => send("binary", bytes),
    ping: () => void write("ping", new Uint8Array(0)),
    heardAt: () => heard,
    close,
    closed,
  };
}

function messageOf(opcode: Opcode, pieces: readonly Uint8Array[]): SocketMessage {
  const bytes = pieces.length === 1 ? (pieces[0] ?? new Uint8Array(0)) : concat(pieces);
  if (opcode === "binary") return { kind: "binary", bytes };
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new FrameError(1007, "a text that is not UTF-8");
  }
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** A control frame holds 125 bytes, two of them the code. */
const MAX_REASON_BYTES = 123;

function closePayload(code: number, reason: string): Uint8Array {
  const text = new TextEncoder().encode(reason).subarray(0, MAX_REASON_BYTES);
  const payload = new Uint8Array(2 + text.length);
  new DataView(payload.buffer).setUint16(0, code);
  payload.set(text, 2);
  return payload;
}

function readClose(payload: Uint8Array): { code: number; reason: string } {
  if (payload.length < 2) return { code: 0, reason: "" };
  const code = new DataView(payload.buffer, payload.byteOffset).getUint16(0);
  return { code, reason: new TextDecoder().decode(payload.subarray(2)) };
}
