// A field that is added to the contract reaches REST and OpenAPI, and so the JSON output of the command line, without
// further edits. The SDKs are checked by tests/tidy/sdk.test.ts.

import { clone, create, createFileRegistry, type DescFile, type DescMessage } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { fromJson, pb, toJson, toJsonText } from "../../src/index.ts";
import { schemasOf } from "../../src/openapi/schemas.ts";

/** Returns the message as it would be with one more text field. */
function withField(desc: DescMessage, name: string): DescMessage {
  const file = clone(FileDescriptorProtoSchema, desc.file.proto);
  const added = { name, jsonName: name, number: 900, type: FieldDescriptorProto_Type.STRING };
  file.messageType
    .find((message) => message.name === desc.name)
    ?.field.push(create(FieldDescriptorProtoSchema, { ...added, label: FieldDescriptorProto_Label.OPTIONAL }));
  const known = new Map<string, DescFile>();
  const note = (one: DescFile): void => {
    known.set(one.name.endsWith(".proto") ? one.name : `${one.name}.proto`, one);
    one.dependencies.forEach(note);
  };
  desc.file.dependencies.forEach(note);
  const changed = createFileRegistry(file, (path) => known.get(path)).getMessage(desc.typeName);
  if (changed === undefined) throw new Error(`${desc.typeName} is not in its file`);
  return changed;
}

test.each([
  ["an answer", pb.NodeSchema],
  ["a request", pb.AllocationSpecSchema],
])("a new field of %s is read, written and described", (_, desc) => {
  const changed = withField(desc as DescMessage, "made_up_rack");
  const message = fromJson(changed, { made_up_rack: "r7" });
  expect(toJson(changed, message)).toMatchObject({ made_up_rack: "r7" });
  expect(JSON.parse(toJsonText(changed, message))).toMatchObject({ made_up_rack: "r7" });
  expect(() => fromJson(desc as DescMessage, { made_up_rack: "r7" })).toThrow("made_up_rack");
  expect(JSON.stringify(schemasOf([changed]))).toContain('"made_up_rack":{"type":"string"');
});
