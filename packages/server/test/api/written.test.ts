// What watchers are sent: the same bytes for all who are sent the same messages, and for everybody what its own say.

import { create } from "@bufbuild/protobuf";
import { pb, routes } from "@lattice/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseFormat } from "../../src/api/rest/stream-format.ts";
import { written } from "../../src/api/rest/written.ts";

const route = routes().find(({ rpc }) => rpc.output.typeName === pb.EventSchema.typeName);
const formatOf = (name: string) => {
  if (route === undefined) throw new Error("no route brings events");
  return chooseFormat(route, undefined, name);
};
const event = (n: number): pb.Event =>
  create(pb.EventSchema, { kind: "allocation_changed", cursor: `${n}:0`, allocationId: String(n), user: "zoë" });

test("who is sent the same messages is sent the same bytes, made once", () => {
  const [a, b] = [event(1), event(2)];
  // Each watcher has a format and a list of its own.
  const first = written(formatOf("sse"), [a, b]);
  expect(written(formatOf("sse"), [a, b])).toBe(first);
  expect(Buffer.from(first).toString()).toMatch(/^event: allocation_changed\nid: 1:0\ndata: {.*"zoë".*}\n\nevent: /);
});

test("a message that only looks the same is not taken for it", () => {
  expect(written(formatOf("sse"), [event(1)])).not.toBe(written(formatOf("sse"), [event(1)]));
});

test("whatever watchers see, and however they take turns, each is sent its own", () => {
  const all = Array.from({ length: 6 }, (_, n) => event(n));
  const turn = fc.record({ name: fc.constantFrom("sse", "ndjson"), seen: fc.subarray(all, { minLength: 1 }) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 60 }), (turns) => {
      for (const { name, seen } of turns) {
        const format = formatOf(name);
        const expected = seen.map((message) => format.encode(message)).join("");
        expect(Buffer.from(written(format, seen)).toString()).toBe(expected);
      }
    }),
    { numRuns: 50 },
  );
});

test("one message alone is written as it is", () => {
  const format = formatOf("ndjson");
  expect(written(format, event(7))).toBe(format.encode(event(7)));
});
