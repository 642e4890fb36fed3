// Service definitions as grpc-js takes them: paths, kinds of streams, and bytes both ways.

import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { pb, serviceDefinition } from "../../src/index.ts";
import { refusal } from "../refusal.ts";

const method = (service: Parameters<typeof serviceDefinition>[0], name: string) => {
  const found = serviceDefinition(service)[name];
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
};

describe("serviceDefinition", () => {
  test("has paths and kinds of streams", () => {
    expect(method(pb.AllocationService, "Submit")).toMatchObject({
      path: "/lattice.v1.AllocationService/Submit",
      requestStream: false,
      responseStream: false,
      originalName: "submit",
    });
    expect(method(pb.AllocationService, "Watch")).toMatchObject({ requestStream: false, responseStream: true });
    expect(method(pb.AgentService, "SendLogs")).toMatchObject({ requestStream: true, responseStream: false });
    expect(method(pb.AgentService, "Connect")).toMatchObject({ requestStream: true, responseStream: true });
  });

  test("serialises to Buffers and back", () => {
    const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } = method(
      pb.AllocationService,
      "Get",
    );
    const request = create(pb.GetAllocationRequestSchema, { id: "7" });
    const bytes = requestSerialize(request);
    expect(Buffer.isBuffer(bytes)).toBe(true);
    expect(requestDeserialize(bytes)).toEqual(request);
    const answer = create(pb.AllocationSchema, { id: "7", exitCode: 0 });
    expect(responseDeserialize(responseSerialize(answer))).toEqual(answer);
  });

  test("bytes that are no message are refused as malformed; unknown field numbers are ignored", async () => {
    const { requestDeserialize } = method(pb.AllocationService, "Submit");
    const problem = await refusal(() => requestDeserialize(new Uint8Array([0x0a, 0xff, 0x01, 0x02])));
    expect(problem).toMatchObject({ code: "malformed_body", status: 400 });
    const newer = new Uint8Array([0x12, 0x01, 0x72, 0xfa, 0x7f, 0x01, 0x61]);
    expect(requestDeserialize(newer)).toMatchObject({ requestId: "r" });
  });
});
