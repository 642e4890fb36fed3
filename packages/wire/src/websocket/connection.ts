// One end of a WebSocket over an existing socket: assembles messages from frames, answers pings and sends one close
// frame. It has no timers: a caller that needs liveness sends pings and reads `heardAt`. Client and server share it.

import { CLOSE, encodeFrame, type Frame, FrameError, frameReader, type Opcode } from "./frames.ts";

/** The part of a socket that a connection uses. */
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

interface WebSocketOptions {
  readonly side: "client" | "server";
  readonly maxMessageBytes: number;
  /** Four unpredictable bytes for every frame of a client. */
  readonly mask: () => Uint8Array;
}

export interface WebSocketConnection {
  /** Yields messages until the other side closes or disconnects. Supports one reader. */
  readonly messages: AsyncIterable<SocketMessage>;
  /** Resolves when the socket accepts more data. */
  sendText(text: string): Promise<void>;
  sendBinary(bytes: Uint8Array): Promise<void>;
  ping(): void;
  /** Returns when the last frame arrived, by the monotonic clock. */
  heardAt(): number;
  /** Sends a close frame and ends the socket. */
  close(code: number, reason: string): void;
  /** Resolves when the socket is closed, with the close code and reason of the other side; code 0 if it sent none. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Unread messages above this number pause the socket. */
const MAX_WAITING = 16;

interface CloseFrame {
  readonly code: number;
  readonly reason: string;
}

/** Takes over an upgraded socket and returns its WebSocket connection. */
export const openConnection = (socket: ByteSocket, options: WebSocketOptions): WebSocketConnection =>
  new FramedConnection(socket, options);

class FramedConnection implements WebSocketConnection {
  readonly messages: AsyncIterable<SocketMessage>;
  readonly closed: Promise<CloseFrame>;
  readonly #socket: ByteSocket;
  readonly #options: WebSocketOptions;
  readonly #waiting: SocketMessage[] = [];
  #parts: { readonly opcode: Opcode; readonly pieces: Uint8Array[]; length: number } | null = null;
  #wakeReader: () => void = () => undefined;
  #blockedWriters: (() => void)[] = [];
  #isOver = false;
  #closeSent = false;
  #heardAt = performance.now();
  #received: CloseFrame = { code: 0, reason: "" };
  #resolveClosed: (frame: CloseFrame) => void = () => undefined;

  constructor(socket: ByteSocket, options: WebSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.messages = this.#read();
    this.#listen();
  }

  sendText(text: string): Promise<void> {
    return this.#send("text", new TextEncoder().encode(text));
  }

  sendBinary(bytes: Uint8Array): Promise<void> {
    return this.#send("binary", bytes);
  }

  ping(): void {
    this.#write("ping", new Uint8Array(0));
  }

  heardAt(): number {
    return this.#heardAt;
  }

  close(code: number, reason: string): void {
    if (this.#closeSent || this.#isOver) return;
    this.#closeSent = true;
    this.#write("close", closePayload(code, reason));
    this.#socket.end();
    this.#wakeReader();
  }

  #listen(): void {
    const { side, maxMessageBytes } = this.#options;
    const read = frameReader({ from: side === "client" ? "server" : "client", maxPayloadBytes: maxMessageBytes });
    this.#socket.on("data", (bytes) => {
      // Bytes after our close frame do not count as a sign of life.
      if (!this.#closeSent) this.#heardAt = performance.now();
      try {
        for (const frame of read(bytes)) this.#receive(frame);
      } catch (error) {
        const known = error instanceof FrameError ? error : new FrameError(CLOSE.protocol, "not a WebSocket frame");
        this.close(known.code, known.message);
        this.#socket.destroy();
      }
    });
    this.#socket.on("drain", () => this.#releaseWriters());
    this.#socket.on("end", () => {
      this.#socket.end();
      this.#finish();
    });
    this.#socket.on("error", () => this.#finish());
    this.#socket.on("close", () => this.#finish());
  }

  #receive({ opcode, final, payload }: Frame): void {
    // After our close frame only the close frame of the other side matters.
    if (this.#closeSent && opcode !== "close") return;
    if (opcode === "ping") return void this.#write("pong", payload);
    if (opcode === "pong") return;
    if (opcode === "close") {
      this.#received = readClose(payload);
      this.close(this.#received.code === 0 ? CLOSE.normal : this.#received.code, "");
      return;
    }
    this.#assemble(opcode, final, payload);
  }

  #assemble(opcode: Opcode, final: boolean, payload: Uint8Array): void {
    const { maxMessageBytes } = this.#options;
    if ((opcode === "continuation") !== (this.#parts !== null)) {
      throw new FrameError(CLOSE.protocol, "fragments out of order");
    }
    this.#parts ??= { opcode, pieces: [], length: 0 };
    this.#parts.pieces.push(payload);
    this.#parts.length += payload.length;
    if (this.#parts.length > maxMessageBytes) {
      throw new FrameError(CLOSE.tooBig, `a message over ${maxMessageBytes} bytes`);
    }
    if (!final) return;
    this.#waiting.push(messageOf(this.#parts.opcode, this.#parts.pieces));
    this.#parts = null;
    if (this.#waiting.length >= MAX_WAITING) this.#socket.pause();
    this.#wakeReader();
  }

  async *#read(): AsyncGenerator<SocketMessage> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        if (this.#waiting.length === 0) this.#socket.resume();
        yield next;
        continue;
      }
      if (this.#isOver || this.#closeSent) return;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #send(opcode: Opcode, payload: Uint8Array): Promise<void> {
    if (this.#write(opcode, payload)) return Promise.resolve();
    return new Promise((resolve) => this.#blockedWriters.push(resolve));
  }

  #write(opcode: Opcode, payload: Uint8Array): boolean {
    if (this.#isOver) return true;
    const { side, mask } = this.#options;
    return this.#socket.write(encodeFrame(opcode, payload, side === "client" ? mask() : null));
  }

  #releaseWriters(): void {
    const blocked = this.#blockedWriters;
    this.#blockedWriters = [];
    for (const resolve of blocked) resolve();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wakeReader();
    this.#releaseWriters();
    this.#resolveClosed(this.#received);
  }
}

function messageOf(opcode: Opcode, pieces: readonly Uint8Array[]): SocketMessage {
  const bytes = pieces.length === 1 ? (pieces[0] ?? new Uint8Array(0)) : concat(pieces);
  if (opcode === "binary") return { kind: "binary", bytes };
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new FrameError(1007, "text that is not UTF-8");
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
