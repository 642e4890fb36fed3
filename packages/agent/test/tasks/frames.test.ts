// Frames between an agent and a shepherd: the same however they are cut, and a frame that is too large or malformed ends
// the reading with a reason and without an exception (finding 10b of the review).
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeReport, encodeReport, frameReader, type NumberedReport } from "../../src/tasks/frames.ts";

function reading(maxBytes = 1_000) {
  const taken: NumberedReport[] = [];
  const reasons: string[] = [];
  const read = frameReader({
    maxBytes,
    decode: decodeReport,
    take: (report) => void taken.push(report),
    broken: (reason) => void reasons.push(reason),
  });
  return { taken, reasons, read };
}

const exit: NumberedReport = { number: 1, report: { kind: "exit", rank: 0, code: 3, signal: 0, message: "no" } };
const output: NumberedReport = {
  number: 2,
  report: { kind: "output", rank: 7, stream: "stderr", data: Buffer.from("text") },
};

test("reports are the same however their bytes are split", () => {
  const bytes = Buffer.concat([encodeReport(exit), encodeReport(output)]);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (places) => {
      const { taken, reasons, read } = reading();
      const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
      for (const [n, to] of cuts.slice(1).entries()) read(bytes.subarray(cuts[n], to));
      expect(taken).toEqual([exit, output]);
      expect(reasons).toEqual([]);
    }),
  );
});

const head = (length: number, kind: number): Buffer => {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt8(kind, 4);
  return bytes;
};
const json = (text: string): Buffer => Buffer.concat([head(text.length, 0), Buffer.from(text)]);

test.each([
  ["a frame of 300 MB", head(300_000_000, 0), "a frame of 300000000 bytes; 1000 is the limit"],
  ["an unknown kind of frame", head(0, 9), "a malformed frame: a report of kind 9"],
  ["output without its head", head(0, 1), "a malformed frame"],
  ["a body that is not JSON", json("{"), "a malformed frame"],
  ["JSON without a report", json("null"), "a malformed frame"],
  ["an unknown report", json('{"number":1,"report":{"kind":"x"}}'), "without number or kind"],
  ["a wrong field", json('{"number":1,"report":{"kind":"killed","code":"1","reason":""}}'), "with a wrong code"],
  ["wrong entries", json('{"number":1,"report":{"kind":"fence","number":1,"entries":[["a"]]}}'), "a wrong entries"],
])("%s ends the reading once, with the reason", (_what, bytes, reason) => {
  const { taken, reasons, read } = reading();
  read(bytes);
  read(encodeReport(exit));
  expect(taken).toEqual([]);
  expect(reasons).toEqual([expect.stringContaining(reason)]);
});
