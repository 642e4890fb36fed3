// What is written as JSON is read back as the same message, for every message of the REST API.

import { equals } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromJson, routes, toJson } from "../../src/index.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";

const schemas = new Map(routes().flatMap(({ rpc }) => [rpc.input, rpc.output].map((desc) => [desc.name, desc])));

describe("toJson and fromJson", () => {
  test.each([...schemas.values()].map((desc) => [desc.name, desc] as const))("are inverse for %s", (_name, desc) => {
    fc.assert(
      fc.property(arbitraryMessage(desc), (message) => {
        const text = JSON.stringify(toJson(desc, message));
        const back = fromJson(desc, JSON.parse(text));
        expect(equals(desc, back, message), text).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test("fromJson never fails otherwise than by a problem, whatever it is given", () => {
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
