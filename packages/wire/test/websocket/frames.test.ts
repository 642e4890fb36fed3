// Frames as bytes: what is written is read however it is cut, and garbage is refused with its code.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLOSE, encodeFrame, FrameError, frameReader, type Opcode } from "../../src/websocket/frames.ts";

const MASK = new Uint8Array([1, 2, 3, 4]);
const bytes = fc.uint8Array({ maxLength: 70_000 });
const opcode = fc.constantFrom<Opcode>("text", "binary", "continuation");

describe("frames", () => {
  test("frames are decoded however their bytes are split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(opcode, bytes), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 5_000 }),
        (sent, masked, cut) => {
          const read = frameReader({ from: masked ? "client" : "server", maxPayloadBytes: 100_000 });
          const whole = Buffer.concat(sent.map(([code, data]) => encodeFrame(code, data, masked ? MASK : null)));
          const got = [];
          for (let at = 0; at < whole.length; at += cut) got.push(...read(whole.subarray(at, at + cut)));
          expect(got.map((frame) => [frame.opcode, Buffer.from(frame.payload).toString("hex")])).toEqual(
            sent.map(([code, data]) => [code, Buffer.from(data).toString("hex")]),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test("garbage is refused or incomplete, never accepted", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2, maxLength: 200 }), (garbage) => {
        const read = frameReader({ from: "client", maxPayloadBytes: 1_000 });
        try {
          for (const frame of read(garbage)) expect(frame.payload.length).toBeLessThanOrEqual(garbage.length);
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });

  test.each([
    ["not masked by a client", encodeFrame("text", Buffer.from("x"), null), CLOSE.protocol],
    ["larger than allowed", encodeFrame("binary", new Uint8Array(2_000), MASK), CLOSE.tooBig],
    ["of an unknown kind", new Uint8Array([0x83, 0x80, 0, 0, 0, 0]), CLOSE.protocol],
    ["with reserved bits", new Uint8Array([0xc1, 0x80, 0, 0, 0, 0]), CLOSE.protocol],
    ["a ping in pieces", new Uint8Array([0x09, 0x80, 0, 0, 0, 0]), CLOSE.protocol],
  ])("a frame %s is refused with its code", (_what, frame, code) => {
    const read = frameReader({ from: "client", maxPayloadBytes: 1_000 });
    expect(() => read(frame)).toThrow(expect.objectContaining({ code }));
  });
});
