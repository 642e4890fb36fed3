// Reads the compiled proto files into plain values that the two SDK writers share: messages, enums, and the unary RPCs
// with their REST routes and comments. It decides which messages the SDKs need, and which of them callers write.

import { createFileRegistry, fromBinary, getOption, ScalarType } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { CALLS, NOT_DURATIONS, TYPE_NAMES } from "./names.mjs";

const TIMESTAMP = "google.protobuf.Timestamp";
const NUMBERS = new Set([ScalarType.DOUBLE, ScalarType.FLOAT]);

/** Returns the contract of a FileDescriptorSet that `buf build` wrote with source information. */
export function readContract(bytes) {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  const registry = createFileRegistry(set);
  const comments = commentsOf(set);
  const http = registry.getExtension("google.api.http");
  const rpcs = [...registry]
    .filter((desc) => desc.kind === "service")
    .flatMap((service) => service.methods)
    .map((method) => rpcOf(method, getOption(method, http), comments))
    .filter((rpc) => rpc !== null);
  const unary = rpcs.filter((rpc) => rpc.unary);
  const written = closure(unary.filter(({ readOnly }) => !readOnly).map(({ input }) => input));
  const shown = closure(rpcs.flatMap(({ input, output }) => [input, output]));
  const requests = new Set(rpcs.map(({ input }) => input));
  const messages = [...shown].map((desc) =>
    messageOf(desc, { comments, isRequest: requests.has(desc), all: written.has(desc) || requests.has(desc) }),
  );
  const enums = [...new Set([...shown].flatMap(({ fields }) => fields.flatMap((field) => field.enum ?? [])))];
  return {
    messages: messages.sort(byName),
    enums: enums.map((desc) => ({ name: typeName(desc.name), values: enumValues(desc) })).sort(byName),
    rpcs: unary.map(({ input, output, ...rest }) => ({
      ...rest,
      request: messages.find(({ proto }) => proto === input.name),
      response: messages.find(({ proto }) => proto === output.name),
    })),
  };
}

const byName = (a, b) => (a.name < b.name ? -1 : 1);
const typeName = (name) => TYPE_NAMES[name] ?? name;

function rpcOf(method, rule, comments) {
  if (rule.pattern.case === undefined) return null;
  const bindings = [rule, ...rule.additionalBindings];
  // A DELETE has no body: where the contract has a POST for the same call, its fields are sent in the body.
  const chosen = (rule.pattern.case === "delete" && bindings.find(({ pattern }) => pattern.case === "post")) || rule;
  const path = chosen.pattern.value;
  return {
    name: `${method.parent.name}.${method.name}`,
    doc: comments.get(method) ?? "",
    unary: method.methodKind === "unary",
    httpMethod: chosen.pattern.case.toUpperCase(),
    path,
    pathFields: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    hasBody: chosen.body === "*",
    readOnly: chosen.pattern.case === "get",
    input: method.input,
    output: method.output,
    call: CALLS[`${method.parent.name}.${method.name}`],
  };
}

/** Returns the messages with everything that their fields refer to, instants apart. */
function closure(roots) {
  const found = new Set();
  const visit = (desc) => {
    if (found.has(desc) || desc.typeName === TIMESTAMP) return;
    found.add(desc);
    for (const { message } of desc.fields) if (message !== undefined) visit(message);
  };
  roots.forEach(visit);
  return found;
}

function messageOf(desc, { comments, isRequest, all }) {
  const fields = desc.fields.map((field) => ({
    name: field.name,
    doc: comments.get(field) ?? "",
    list: field.fieldKind === "list",
    map: field.fieldKind === "map",
    // JSON always shows scalars, enums and lists; a caller may leave everything out.
    optional: all || field.fieldKind === "map" || field.oneof !== undefined || (isExplicit(field) && !isWrapped(field)),
    explicit: isExplicit(field),
    type: valueType(field),
    duration: all && !NOT_DURATIONS.has(`${desc.name}.${field.name}`) ? durationName(field) : null,
  }));
  return { name: typeName(desc.name), proto: desc.name, doc: comments.get(desc) ?? "", isRequest, fields };
}

const isExplicit = (field) =>
  field.fieldKind !== "list" && (field.message !== undefined || field.proto.proto3Optional === true);

/** A response that is one message with the log index: the message is always there. */
const isWrapped = ({ message, parent }) =>
  message !== undefined &&
  message.typeName !== TIMESTAMP &&
  parent.name.endsWith("Response") &&
  parent.fields.every((other) => other.message === message || other.name === "log_index" || other.name === "warnings");

function valueType({ message, enum: enumeration, scalar }) {
  if (message !== undefined)
    return message.typeName === TIMESTAMP ? { kind: "instant" } : { kind: "message", name: typeName(message.name) };
  if (enumeration !== undefined) return { kind: "enum", name: typeName(enumeration.name) };
  if (scalar === ScalarType.BOOL) return { kind: "boolean" };
  if (scalar === ScalarType.STRING) return { kind: "string" };
  if (scalar === ScalarType.BYTES) return { kind: "bytes" };
  return { kind: NUMBERS.has(scalar) ? "float" : "integer" };
}

/** REST takes `walltime: 4h` for `walltime_seconds`; see packages/wire/src/json/durations.ts. */
function durationName({ name, parent, fieldKind, scalar }) {
  if (fieldKind !== "scalar" || scalar !== ScalarType.UINT32 || !name.endsWith("_seconds")) return null;
  const short = name.slice(0, -"_seconds".length);
  return parent.fields.some((other) => other.name === short) ? null : short;
}

function enumValues(desc) {
  const prefix = desc.sharedPrefix?.length ?? 0;
  return desc.values.filter(({ number }) => number !== 0).map(({ name }) => name.slice(prefix).toLowerCase());
}

/** Returns the comment of a message, field or RPC as one line of text. */
function commentsOf(set) {
  const byFile = new Map(
    set.file.map((file) => [
      file.name,
      new Map(
        (file.sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [path.join("."), leadingComments]),
      ),
    ]),
  );
  const pathOf = (desc) => {
    if (desc.kind === "message") return [4, desc.file.proto.messageType.indexOf(desc.proto)];
    if (desc.kind === "field") return [...pathOf(desc.parent), 2, desc.parent.proto.field.indexOf(desc.proto)];
    return [
      6,
      desc.parent.file.proto.service.indexOf(desc.parent.proto),
      2,
      desc.parent.proto.method.indexOf(desc.proto),
    ];
  };
  const fileOf = (desc) => (desc.file ?? desc.parent.file).proto.name;
  return {
    get: (desc) => {
      const text = byFile.get(fileOf(desc))?.get(pathOf(desc).join("."));
      return text === undefined ? undefined : text.trim().replaceAll(/\s*\n\s*/g, " ");
    },
  };
}
