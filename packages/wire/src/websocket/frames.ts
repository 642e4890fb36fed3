// Encodes and decodes WebSocket frames (RFC 6455); the decoder accepts chunks of any size. A protocol violation is a
// `FrameError` with the close code to answer with. Extensions are not supported.

export type Opcode = "continuation" | "text" | "binary" | "close" | "ping" | "pong";

export interface Frame {
  readonly opcode: Opcode;
  readonly final: boolean;
  readonly payload: Uint8Array;
}

export const CLOSE = { normal: 1000, goingAway: 1001, protocol: 1002, unsupported: 1003, tooBig: 1009, internal: 1011 };

export class FrameError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = "FrameError";
    this.code = code;
  }
}

const OPCODES: Readonly<Record<Opcode, number>> = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
const NAMES = new Map(Object.entries(OPCODES).map(([name, number]) => [number, name as Opcode]));

const isControl = (opcode: Opcode): boolean => OPCODES[opcode] >= OPCODES.close;

const FINAL = 0x80;
const MASKED = 0x80;
/** Longer lengths take 2 bytes, and beyond that 8. */
const SHORT = 125;
const MEDIUM = 65_535;
const MASK_BYTES = 4;

/** `mask`: four random bytes, which a client must and a server must not use. */
export function encodeFrame(opcode: Opcode, payload: Uint8Array, mask: Uint8Array | null): Uint8Array {
  const { length } = payload;
  const extra = length <= SHORT ? 0 : length <= MEDIUM ? 2 : 8;
  const start = 2 + extra + (mask === null ? 0 : MASK_BYTES);
  const frame = new Uint8Array(start + length);
  frame[0] = FINAL | OPCODES[opcode];
  frame[1] = (mask === null ? 0 : MASKED) | (extra === 0 ? length : extra === 2 ? 126 : 127);
  const view = new DataView(frame.buffer);
  if (extra === 2) view.setUint16(2, length);
  if (extra === 8) view.setBigUint64(2, BigInt(length));
  frame.set(payload, start);
  if (mask !== null) {
    frame.set(mask, start - MASK_BYTES);
    applyMask(frame.subarray(start), mask);
  }
  return frame;
}

interface FrameReaderOptions {
  /** The role of the other side: clients mask their frames, servers do not. */
  readonly from: "client" | "server";
  readonly maxPayloadBytes: number;
}

/** Returns the frames that the bytes complete, in order. Throws FrameError, after which the decoder is unusable. */
export function frameReader(options: FrameReaderOptions): (bytes: Uint8Array) => Frame[] {
  let held: Uint8Array = new Uint8Array(0);
  return (bytes) => {
    held = held.length === 0 ? bytes : joined(held, bytes);
    const frames: Frame[] = [];
    for (;;) {
      const next = readFrame(held, options);
      if (next === null) return frames;
      frames.push(next.frame);
      held = held.subarray(next.length);
    }
  };
}

function readFrame(
  bytes: Uint8Array,
  { from, maxPayloadBytes }: FrameReaderOptions,
): { readonly frame: Frame; readonly length: number } | null {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return null;
  const opcode = NAMES.get(first & 0x0f);
  if (opcode === undefined || (first & 0x70) !== 0) throw new FrameError(CLOSE.protocol, "an unknown kind of frame");
  const final = (first & FINAL) !== 0;
  const masked = (second & MASKED) !== 0;
  if (masked !== (from === "client")) throw new FrameError(CLOSE.protocol, "a frame that is masked as it must not be");
  const shortLength = second & 0x7f;
  if (isControl(opcode) && (!final || shortLength > SHORT))
    throw new FrameError(CLOSE.protocol, "a control frame too long");
  const extra = shortLength === 127 ? 8 : shortLength === 126 ? 2 : 0;
  const start = 2 + extra + (masked ? MASK_BYTES : 0);
  if (bytes.length < 2 + extra) return null;
  const length = lengthOf(bytes, shortLength, extra);
  if (length > maxPayloadBytes) throw new FrameError(CLOSE.tooBig, `a frame over ${maxPayloadBytes} bytes`);
  if (bytes.length < start + length) return null;
  const payload = bytes.slice(start, start + length);
  if (masked) applyMask(payload, bytes.subarray(start - MASK_BYTES, start));
  return { frame: { opcode, final, payload }, length: start + length };
}

function lengthOf(bytes: Uint8Array, shortLength: number, extra: number): number {
  if (extra === 0) return shortLength;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return extra === 2 ? view.getUint16(2) : Number(view.getBigUint64(2));
}

function applyMask(bytes: Uint8Array, mask: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] ?? 0) ^ (mask[i % MASK_BYTES] ?? 0);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
