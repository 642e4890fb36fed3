// Every message of the REST API survives the round trip through JSON.

import { equals } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromJson, jsonPieces, keepText, type pb, routes, toJson, toJsonText } from "../../src/index.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";

const schemas = new Map(routes().flatMap(({ rpc }) => [rpc.input, rpc.output].map((desc) => [desc.name, desc])));

describe("toJson and fromJson", () => {
  test.each([...schemas.values()].map((desc) => [desc.name, desc] as const))("are inverse for %s", (_name, desc) => {
    fc.assert(
      fc.property(arbitraryMessage(desc), (message) => {
        const text = JSON.stringify(toJson(desc, message));
        expect(toJsonText(desc, message)).toBe(text);
        expect(jsonPieces(desc, message).join("")).toBe(text);
        const back = fromJson(desc, JSON.parse(text));
        expect(equals(desc, back, message), text).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test("the text of a cached message is made once", () => {
    const list = schemas.get("ListAllocationsResponse");
    if (list === undefined) throw new Error("no ListAllocationsResponse");
    fc.assert(
      fc.property(arbitraryMessage(list), (message) => {
        const text = JSON.stringify(toJson(list, message));
        for (const { spec } of (message as pb.ListAllocationsResponse).allocations) {
          if (spec !== undefined) keepText(spec);
        }
        expect([toJsonText(list, message), toJsonText(list, message)]).toEqual([text, text]);
        for (const { spec } of (message as pb.ListAllocationsResponse).allocations) {
          if (spec !== undefined) spec.name += "changed nevertheless";
        }
        expect(jsonPieces(list, message).join("")).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  test("fromJson fails only with a problem", () => {
    const submit = schemas.get("SubmitRequest");
    if (submit === undefined) throw new Error("no SubmitRequest");
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom("allocation", "resources", "nodes", "min", "x", "__proto__") }),
        (json) => {
          try {
            fromJson(submit, json);
          } catch (error) {
            expect(error).toHaveProperty("problem.code", "invalid_argument");
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
