// Writes the TypeScript SDK: `types.ts` has the JSON of every message that REST sends or takes, `calls.ts` one method for
// every unary call. Streams, paging and the short form of a submission are written by hand in packages/sdk/src.

import { SHORT_FORMS } from "./names.mjs";

const HEAD = "// Written by tools/generate-sdk.mjs from proto/lattice/v1. Do not edit.\n";

export function typescriptFiles(contract) {
  return {
    "packages/sdk/gen/types.ts": typesFile(contract),
    "packages/sdk/gen/calls.ts": callsFile(contract),
  };
}

function typesFile({ messages, enums }) {
  const unions = enums.map(
    ({ name, values }) => `export type ${name} = ${values.map((one) => `"${one}"`).join(" | ")};\n`,
  );
  return [
    HEAD,
    "// The JSON of the REST interface: snake_case names, lower-case enums, RFC 3339 instants. 64-bit numbers are strings.\n",
    ...unions,
    ...messages.map(interfaceOf),
  ].join("\n");
}

function interfaceOf({ name, doc, fields, isRequest }) {
  const lines = fields.flatMap((field) => [
    ...docLines(field.doc, "  "),
    `  readonly ${field.name}${field.optional ? "?" : ""}: ${fieldType(field)}${isRequest ? " | undefined" : ""};`,
    ...(field.duration !== null
      ? [
          `  /** Text form of ${field.name}, for example "4h". */`,
          `  readonly ${field.duration}?: string${isRequest ? " | undefined" : ""};`,
        ]
      : []),
  ]);
  return [...docLines(doc, ""), `export interface ${name} {`, ...lines, "}", ""].join("\n");
}

const docLines = (doc, indent) => (doc === "" ? [] : [`${indent}/** ${doc.replaceAll("*/", "* /")} */`]);

function fieldType({ type, list, map }) {
  const one = scalarType(type);
  if (map) return `Readonly<Record<string, ${one}>>`;
  return list ? `readonly ${one}[]` : one;
}

function scalarType({ kind, name }) {
  if (kind === "message" || kind === "enum") return name;
  if (kind === "boolean") return "boolean";
  return kind === "float" || kind === "integer" ? "number" : "string";
}

function callsFile({ rpcs }) {
  const calls = rpcs
    .filter(({ call }) => call !== undefined && call.hand !== "ts" && call.hand !== "both")
    .map(methodOf);
  const groups = [...new Set(calls.map(({ group }) => group))];
  const types = [...new Set(calls.flatMap(({ types: used }) => used))].sort();
  return [
    HEAD,
    'import type { Caller, CallOptions, ChangeOptions } from "../src/call.ts";',
    'import { eachItem, type PageOptions } from "../src/pages.ts";',
    'import { fieldsOf, send } from "../src/send.ts";',
    'import type { DagSubmission, Submission, TelemetryForm } from "../src/submission.ts";',
    `import type {\n${types.map((name) => `  ${name},`).join("\n")}\n} from "./types.ts";`,
    "",
    ...groups.map((group) =>
      groupText(
        group,
        calls.filter((one) => one.group === group),
      ),
    ),
    clientText(groups),
  ].join("\n");
}

/** "nodes" becomes NodeCalls and nodeCalls; calls of the client itself are the root. */
const groupName = (group) => (group === "" ? "root" : group.replace(/s$/, ""));
const interfaceName = (group) =>
  `${groupName(group)
    .replace(/^v(?=cluster)/, "V")
    .replace(/^Vc/, "VC")
    .replace(/^./, (c) => c.toUpperCase())}Calls`;

function groupText(group, calls) {
  const members = calls.flatMap(({ doc, signature, pageSignature }) => [
    ...docLines(doc, "  "),
    `  ${signature};`,
    ...(pageSignature === null ? [] : ["  /** Iterates over all pages. */", `  ${pageSignature};`]),
  ]);
  const values = calls.flatMap(({ value, pageValue }) => [
    `    ${value},`,
    ...(pageValue === null ? [] : [`    ${pageValue},`]),
  ]);
  return [
    `export interface ${interfaceName(group)} {`,
    ...members,
    "}",
    "",
    `export function ${groupName(group)}Calls(caller: Caller): ${interfaceName(group)} {`,
    `  const calls: ${interfaceName(group)} = {`,
    ...values,
    "  };",
    "  return calls;",
    "}",
    "",
  ].join("\n");
}

function clientText(groups) {
  const named = groups.filter((group) => group !== "");
  return [
    "/** Every unary call of the API. */",
    "export interface GeneratedClient extends RootCalls {",
    ...named.map((group) => `  readonly ${group}: ${interfaceName(group)};`),
    "}",
    "",
    "export const generatedClient = (caller: Caller): GeneratedClient => ({",
    "  ...rootCalls(caller),",
    ...named.map((group) => `  ${group}: ${groupName(group)}Calls(caller),`),
    "});",
    "",
  ].join("\n");
}

function methodOf(rpc) {
  const { call, request, response } = rpc;
  const [method, group = ""] = call.ts.split(".").reverse();
  const hasId = !rpc.readOnly && request.fields.some(({ name }) => name === "request_id") && !call.pure && !call.once;
  const options = hasId ? "ChangeOptions" : "CallOptions";
  // A document names its own id, except where the path does.
  const positional =
    call.body === undefined
      ? [...rpc.pathFields, ...(call.args ?? [])]
      : rpc.pathFields.length === 1
        ? rpc.pathFields
        : [];
  const left = request.fields.filter(
    ({ name }) => name !== "request_id" && !positional.includes(name) && !positional.includes(`${name}?`),
  );
  const form = { positional, left, options, rest: restOf(rpc, positional, left) };
  const page = pageOf(rpc, method, form);
  return {
    group,
    doc: rpc.doc,
    types: [
      ...typesIn(form.rest.type),
      ...positional.flatMap((name) => typesIn(argumentType(request, name))),
      ...typesIn(response.name),
      ...(page?.types ?? []),
    ],
    signature: `${method}(${parameters(request, form, true)}): Promise<${response.name}>`,
    value: `${method}: (${parameters(request, form, false)}) =>\n      send(caller, ${callText(rpc, hasId)}, ${fieldsText(form)}, options)`,
    pageSignature: page?.signature ?? null,
    pageValue: page?.value ?? null,
  };
}

/** How the fields that are not positional are given: with the options, or as an argument of their own. */
function restOf({ call, request, readOnly }, positional, left) {
  const omitted = [...positional.map((name) => name.replace("?", "")), ...(readOnly ? [] : ["request_id"])].filter(
    (name) => request.fields.some((field) => field.name === name),
  );
  const own =
    omitted.length === 0 ? request.name : `Omit<${request.name}, ${omitted.map((one) => `"${one}"`).join(" | ")}>`;
  const type = SHORT_FORMS[request.name] === undefined ? own : `${own} & ${SHORT_FORMS[request.name]}`;
  if (call.body !== undefined) return { kind: "body", type: call.body === "" ? type : call.body };
  if (left.length === 0) return { kind: "none", type: "" };
  return { kind: readOnly ? "query" : "merged", type };
}

function parameters(request, { positional, rest, options }, typed) {
  const named = positional.map((name) => {
    const plain = name.replace("?", "");
    return typed ? `${camel(plain)}${name.endsWith("?") ? "?" : ""}: ${argumentType(request, name)}` : camel(plain);
  });
  const rests = {
    body: typed ? [`body: ${rest.type}`, `options?: ${options}`] : ["body", "options = {}"],
    query: typed ? [`query?: ${rest.type}`, `options?: ${options}`] : ["query = {}", "options = {}"],
    merged: typed ? [`options?: ${options} & ${rest.type}`] : ["options = {}"],
    none: typed ? [`options?: ${options}`] : ["options = {}"],
  };
  return [...named, ...rests[rest.kind]].join(", ");
}

function argumentType(request, name) {
  const field = request.fields.find((one) => one.name === name.replace("?", ""));
  return `${fieldType(field)}${name.endsWith("?") ? " | undefined" : ""}`;
}

function fieldsText({ positional, rest }) {
  const given = positional
    .map((name) => name.replace("?", ""))
    .map((name) => (camel(name) === name ? name : `${name}: ${camel(name)}`));
  const others = { body: ["...body"], query: ["...query"], merged: ["...fieldsOf(options)"], none: [] };
  return `{ ${[...given, ...others[rest.kind]].join(", ")} }`;
}

function callText(rpc, hasId) {
  const parts = [`method: "${rpc.httpMethod}"`, `path: "${rpc.path}"`, `body: ${rpc.hasBody}`, `requestId: ${hasId}`];
  if (rpc.call.pure) parts.push("repeatable: true");
  if (rpc.call.timeoutMs !== undefined) parts.push(`timeoutMs: ${rpc.call.timeoutMs}`);
  return `{ ${parts.join(", ")} }`;
}

/** A list that has pages can also be walked item by item. */
function pageOf({ call, request, response }, method, { rest }) {
  const items = response.fields.filter(({ list, type }) => list && type.kind === "message");
  if (method !== "list" || items.length !== 1 || !request.fields.some(({ name }) => name === "page_token")) return null;
  const [{ name, type }] = items;
  return {
    types: [type.name],
    signature: `listAll(query?: ${rest.type}, options?: CallOptions & PageOptions): AsyncGenerator<${type.name}>`,
    value: `listAll: (query = {}, options = {}) =>\n      eachItem((paging) => calls.list({ ...query, ...paging }, options), (page) => page.${name}, ${call.pageSize === undefined ? "options" : `{ pageSize: ${call.pageSize}, ...options }`})`,
  };
}

const typesIn = (text) => (text.match(/\b[A-Z]\w+/g) ?? []).filter((name) => !BUILT_IN.has(name));
const BUILT_IN = new Set(["Omit", "Readonly", "Record", "Submission", "DagSubmission", "TelemetryForm", "Promise"]);

const camel = (name) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
