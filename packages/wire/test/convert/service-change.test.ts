// Valid updates of a service, and the errors of invalid ones.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ServiceUpdateSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { serviceChangeFromProto } from "../../src/convert/service-change.ts";

const change = (update: object) => serviceChangeFromProto(create(ServiceUpdateSchema, update));

test("a probe is changed with defaults for unset fields, or removed", () => {
  expect(change({ livenessProbe: { port: 80, path: "/up" } })).toEqual({
    probe: {
      kind: "http",
      port: 80,
      path: "/up",
      period: 30_000,
      initialDelay: 10_000,
      failureThreshold: 3,
      timeout: 5_000,
    },
  });
  expect(change({ removeLivenessProbe: true })).toEqual({ probe: null });
  expect(change({ entrypoint: "serve" })).toEqual({ task: { kind: "entrypoint", line: "serve" } });
});

test.each([
  [{}, "changes nothing"],
  [{ livenessProbe: { port: 80 }, removeLivenessProbe: true }, "does not go with"],
  [{ livenessProbe: { port: 80, probeType: "ftp" } }, "is not a kind of probe"],
  [{ entrypoint: "a", script: "b" }, "more than one"],
])("%o is refused", (update, why) => {
  expect(() => change(update)).toThrow(expect.objectContaining({ message: expect.stringContaining(why) }));
});
