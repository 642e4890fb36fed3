// WebSocket frames, valid and invalid: texts of the contract and others, bytes, pings, closes, fragments in and out of
// order, without a mask, with reserved bits, with wrong lengths, and noise.

import { pick, type Roll, textFor } from "./values.ts";

const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

interface FrameOf {
  readonly opcode: number;
  readonly payload: Uint8Array;
  readonly final?: boolean;
  readonly masked?: boolean;
  readonly reserved?: number;
  /** The length in the header, whatever the payload has. */
  readonly length?: number;
}

export function framesFor(roll: Roll): Buffer {
  return Buffer.concat(Array.from({ length: 1 + roll(6) }, () => frameFor(roll)));
}

function frameFor(roll: Roll): Buffer {
  const odd = roll(6) === 0;
  if (odd && roll(4) === 0) return Buffer.from(Array.from({ length: 1 + roll(64) }, () => roll(256)));
  const opcode = pick<number>(roll, [
    OPCODES.continuation,
    ...Object.values(OPCODES),
    OPCODES.text,
    OPCODES.binary,
    odd ? roll(16) : OPCODES.text,
  ]);
  const payload = payloadFor(roll, opcode);
  return written(roll, {
    opcode,
    payload,
    final: roll(5) !== 0,
    masked: !odd || roll(2) === 0,
    reserved: odd && roll(4) === 0 ? roll(8) : 0,
    ...(odd && roll(3) === 0 ? { length: pick(roll, [0, 126, 65_536, 2 ** 31, 2 ** 40]) } : {}),
  });
}

function payloadFor(roll: Roll, opcode: number): Uint8Array {
  if (opcode === OPCODES.text) return Buffer.from(sentence(roll));
  if (opcode === OPCODES.close && roll(2) === 0) return Buffer.from([roll(256), roll(256)]);
  return Buffer.alloc(pick(roll, [0, 1, 5, 125, 126, 300, 65_536, roll(40) === 0 ? 1_100_000 : 2]), roll(256));
}

function sentence(roll: Roll): string {
  const size = { rows: pick<unknown>(roll, [0, 24, -1, 5_000, "x", null]), cols: roll(300) };
  return JSON.stringify(
    pick<unknown>(roll, [
      { resize: size },
      { resize: "large" },
      { signal: pick(roll, ["INT", "KILL", textFor(roll)]) },
      { stdin: pick(roll, ["aGk=", "!!", ""]) },
      { start: { id: textFor(roll) } },
      { [textFor(roll)]: textFor(roll) },
      [],
      null,
      textFor(roll),
    ]),
  ).slice(0, roll(10) === 0 ? 5 : undefined);
}

function written(
  roll: Roll,
  { opcode, payload, final, masked, reserved = 0, length = payload.length }: FrameOf,
): Buffer {
  const head = [(final === false ? 0 : 0x80) | (reserved << 4) | opcode];
  const bit = masked === false ? 0 : 0x80;
  const long = Buffer.alloc(8);
  if (length < 126) head.push(bit | length);
  else if (length < 65_536) head.push(bit | 126, length >> 8, length & 255);
  else {
    long.writeBigUInt64BE(BigInt(length));
    head.push(bit | 127, ...long);
  }
  if (masked === false) return Buffer.concat([Buffer.from(head), payload]);
  const mask = [roll(256), roll(256), roll(256), roll(256)];
  const hidden = Buffer.from(payload.map((byte, n) => byte ^ (mask[n % 4] ?? 0)));
  return Buffer.concat([Buffer.from([...head, ...mask]), hidden]);
}
