// Encoding of stream items: watchers of the same messages share the bytes, and every watcher gets its own messages.

import { create } from "@bufbuild/protobuf";
import { pb, routes } from "@lattice/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeItem } from "../../src/api/rest/encode-item.ts";
import { chooseFormat } from "../../src/api/rest/stream-format.ts";

const route = routes().find(({ rpc }) => rpc.output.typeName === pb.EventSchema.typeName);
const formatOf = (name: string) => {
  if (route === undefined) throw new Error("no route brings events");
  return chooseFormat(route, undefined, name);
};
const event = (n: number): pb.Event =>
  create(pb.EventSchema, { kind: "allocation_changed", cursor: `${n}:0`, allocationId: String(n), user: "zoë" });

test("watchers of the same messages share the same bytes", () => {
  const [a, b] = [event(1), event(2)];
  // Each watcher has its own format and list.
  const first = encodeItem(formatOf("sse"), [a, b]);
  expect(encodeItem(formatOf("sse"), [a, b])).toBe(first);
  expect(Buffer.from(first).toString()).toMatch(/^event: allocation_changed\nid: 1:0\ndata: {.*"zoë".*}\n\nevent: /);
});

test("an equal but different message is encoded again", () => {
  expect(encodeItem(formatOf("sse"), [event(1)])).not.toBe(encodeItem(formatOf("sse"), [event(1)]));
});

test("each watcher gets its own messages, whatever the order", () => {
  const all = Array.from({ length: 6 }, (_, n) => event(n));
  const turn = fc.record({ name: fc.constantFrom("sse", "ndjson"), seen: fc.subarray(all, { minLength: 1 }) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 60 }), (turns) => {
      for (const { name, seen } of turns) {
        const format = formatOf(name);
        const expected = seen.map((message) => format.encode(message)).join("");
        expect(Buffer.from(encodeItem(format, seen)).toString()).toBe(expected);
      }
    }),
    { numRuns: 50 },
  );
});

test("a single message is encoded by itself", () => {
  const format = formatOf("ndjson");
  expect(encodeItem(format, event(7))).toBe(format.encode(event(7)));
});
