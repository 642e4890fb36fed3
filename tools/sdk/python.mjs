// Writes the Python SDK: `models/generated.py` has a dataclass for every message that a call returns, `_async/generated.py`
// one method for every unary call. tools/make_sync.py of the package makes the synchronous client from the latter.

import { PY_BASES, PY_DEFAULTED, PY_DICTS, PY_NAMES } from "./names.mjs";

const HEAD = "# Written by tools/generate-sdk.mjs from proto/lattice/v1. Do not edit.\n";
const KEYWORDS = new Set(["from", "global", "class", "lambda", "import", "is", "in", "not", "with", "as", "pass"]);
const WIDTH = 118;

export function pythonFiles(contract) {
  return {
    "sdks/python/lattice_sdk/models/generated.py": modelsFile(contract),
    "sdks/python/lattice_sdk/_async/generated.py": callsFile(contract),
  };
}

const pyName = (message) => PY_NAMES[message.name] ?? message.name;
const word = (name) => (KEYWORDS.has(name) ? `${name}_` : name);

function modelsFile({ messages, rpcs }) {
  const models = returned(messages, rpcs);
  const bases = [...new Set(models.flatMap(({ name }) => PY_BASES[name] ?? []))].sort();
  return [
    HEAD,
    '"""What the API returns, as dataclasses. Fields that a newer server adds are in ``extra``."""\n',
    "from __future__ import annotations\n",
    "from dataclasses import dataclass, field",
    "from datetime import datetime",
    "from typing import Any\n",
    "from ..record import Record",
    "from ..state import State",
    ...(bases.length === 0 ? [] : [`from .extras import ${bases.join(", ")}`]),
    `\n__all__ = [\n${models
      .map((one) => `    "${pyName(one)}",`)
      .sort()
      .join("\n")}\n]\n`,
    ...models.map(modelText),
  ].join("\n");
}

/** Returns the messages of all answers, each after the ones that it contains. */
function returned(messages, rpcs) {
  const found = new Map();
  const visit = (message) => {
    if (message === undefined || found.has(message.name) || PY_DICTS.has(message.name)) return;
    for (const { type } of message.fields)
      if (type.kind === "message") visit(messages.find(({ name }) => name === type.name));
    found.set(message.name, message);
  };
  for (const { response, call } of rpcs) if (call !== undefined && call.py !== "query_metrics") visit(response);
  return [...found.values()].filter(({ fields }) => fields.length > 0);
}

function modelText(message) {
  const base = PY_BASES[message.name] ?? "Record";
  const fields = message.fields.flatMap((field) => [
    `    ${word(field.name)}: ${hint(message, field)} = ${fallback(message, field)}`,
    ...(field.doc === "" ? [] : [`    """${docText(field.doc)}"""`]),
  ]);
  return [
    "\n@dataclass(frozen=True, kw_only=True)",
    `class ${pyName(message)}(${base}):`,
    ...(message.doc === "" ? [] : [`    """${docText(message.doc)}"""\n`]),
    ...fields,
    "",
  ].join("\n");
}

/** Splits long documentation into lines; the closing quotes may follow a quote character. */
function docText(doc, indent = "    ") {
  const lines = [""];
  for (const one of doc.replaceAll("\\", "\\\\").split(" ")) {
    const last = lines.length - 1;
    const next = lines[last] === "" ? one : `${lines[last]} ${one}`;
    if (next.length + indent.length + 6 > WIDTH && lines[last] !== "") lines.push(one);
    else lines[last] = next;
  }
  const text = lines.join(`\n${indent}`);
  return text.endsWith('"') ? `${text} ` : text;
}

function hint(message, field) {
  const one = valueHint(field);
  if (field.map) return `dict[str, ${one}]`;
  if (field.list) return `list[${one}]`;
  return isNullable(message, field) ? `${one} | None` : one;
}

function isNullable(message, field) {
  if (PY_DEFAULTED.has(`${message.name}.${field.name}`) || PY_DICTS.has(field.type.name)) return false;
  if (field.type.kind === "message" || field.type.kind === "instant") return true;
  return field.explicit;
}

function valueHint({ name, type }) {
  if (type.kind === "message") return PY_DICTS.has(type.name) ? "dict[str, Any]" : (PY_NAMES[type.name] ?? type.name);
  if (name === "state" || type.name?.endsWith("State")) return "State";
  return { instant: "datetime", boolean: "bool", float: "float", integer: "int" }[type.kind] ?? "str";
}

function fallback(message, field) {
  if (field.map || PY_DICTS.has(field.type.name)) return "field(default_factory=dict)";
  if (field.list) return "field(default_factory=list)";
  if (isNullable(message, field)) return "None";
  const one = valueHint(field);
  if (field.type.kind === "message") return `field(default_factory=${one})`;
  return { State: 'State("")', bool: "False", float: "0.0", int: "0" }[one] ?? '""';
}

function callsFile({ rpcs }) {
  const calls = rpcs.filter(({ call }) => call !== undefined && call.hand !== "py" && call.hand !== "both");
  const methods = calls.map(methodsOf);
  const models = [...new Set(methods.flatMap(({ models: used }) => used))].sort();
  return [
    HEAD,
    '"""Every unary call of the API."""\n',
    "from __future__ import annotations\n",
    "from collections.abc import AsyncIterator, Mapping, Sequence",
    "from datetime import datetime",
    "from typing import Any\n",
    "from ..call import at, change, items, part, read",
    `from ..models.generated import (\n${models.map((one) => `    ${one},`).join("\n")}\n)`,
    "from ..state import State",
    "from .caller import Caller",
    "from .pages import each_item, listed\n",
    '__all__ = ["GeneratedCalls"]\n\n',
    "class GeneratedCalls:",
    "    _caller: Caller",
    ...methods.map(({ text }) => text),
  ].join("\n");
}

function methodsOf(rpc) {
  const { call, request } = rpc;
  const isPaged = call.py.startsWith("list_") && request.fields.some(({ name }) => name === "page_token");
  const args = call.pyArgs ?? call.args ?? [];
  const positional = rpc.pathFields.every((name) => args.includes(name)) ? args : [...rpc.pathFields, ...args];
  const taken = new Set(positional.map((name) => name.replace("?", "")));
  const hidden = new Set(["request_id", ...(isPaged ? ["page_size", "page_token"] : [])]);
  const left = request.fields.filter(({ name }) => !taken.has(name) && !hidden.has(name));
  const shown = (name) => word(call.pyFields?.[name] ?? name);
  const named = left.flatMap((field) => [
    `${shown(field.name)}: ${argument(field)} | None = None`,
    ...(field.duration === null ? [] : [`${field.duration}: str | None = None`]),
  ]);
  const pairs = [
    ...[...taken].filter((name) => !rpc.pathFields.includes(name)).map((name) => [name, shown(name)]),
    ...left.flatMap((field) => [
      [field.name, shown(field.name)],
      ...(field.duration === null ? [] : [[field.duration, field.duration]]),
    ]),
  ];
  const hasId = !rpc.readOnly && request.fields.some(({ name }) => name === "request_id") && !call.pure && !call.once;
  const form = { rpc, pairs, hasId, path: pathText(rpc) };
  if (isPaged) return pagedText(form, positional, named);
  const keywords = [...named, ...(hasId ? ["request_id: str | None = None"] : [])];
  const result = resultOf(rpc);
  return {
    models: result.models,
    text: [
      signature("async def", call.py, positionalText(request, positional), keywords, result.hint),
      ...body(rpc.doc, sendText(form, result)),
    ].join("\n"),
  };
}

const positionalText = (request, names) =>
  names.map((name) => {
    const field = request.fields.find((one) => one.name === name.replace("?", ""));
    return `${word(field.name)}: ${argument(field)}${name.endsWith("?") ? " | None = None" : ""}`;
  });

function signature(kind, name, positional, keywords, result) {
  const all = ["self", ...positional, ...(keywords.length === 0 ? [] : ["*", ...keywords])];
  const line = `    ${kind} ${name}(${all.join(", ")}) -> ${result}:`;
  if (line.length <= WIDTH) return `\n${line}`;
  return [`\n    ${kind} ${name}(`, ...all.map((one) => `        ${one},`), `    ) -> ${result}:`].join("\n");
}

const body = (doc, text) => [...(doc === "" ? [] : [`        """${docText(doc, "        ")}"""`]), text];

function argument({ type, list, map, name }) {
  const one =
    { instant: "datetime | str", boolean: "bool", float: "float", integer: "int", message: "Mapping[str, Any]" }[
      type.kind
    ] ?? "str";
  if (map) return `Mapping[str, ${one}]`;
  if (list) return one === "str" ? "str | Sequence[str]" : `Sequence[${one}]`;
  return name === "signals" ? "Mapping[str, Any]" : one;
}

/** Path parameters are the method's arguments, all other segments literal. */
const pathText = ({ path }) =>
  `at(${path
    .replace("/api/v1/", "")
    .split("/")
    .map((one) => (one.startsWith("{") ? one.slice(1, -1) : `"${one}"`))
    .join(", ")})`;

function resultOf({ call, response }) {
  if (call.result === null) return { hint: "None", models: [], parse: "" };
  if (call.result === undefined)
    return { hint: pyName(response), models: [pyName(response)], parse: `kind=${pyName(response)}` };
  const field = response.fields.find(({ name }) => name === call.result);
  const one = valueHint(field);
  if (field.type.kind !== "message")
    return { hint: one, models: [], parse: `parse=lambda data: ${one}(data.get("${field.name}") or "")` };
  const made = field.list ? "items" : "part";
  return { hint: field.list ? `list[${one}]` : one, models: [one], parse: `parse=${made}("${field.name}", ${one})` };
}

function sendText({ rpc, pairs, hasId, path }, { hint: result, parse }) {
  const { call } = rpc;
  const given = pairs.map(([name, value]) => `${word(name)}=${value}`);
  const more = [
    ...(parse === "" ? [] : [parse]),
    ...(hasId ? ["request_id=request_id"] : rpc.readOnly ? [] : ["request_id=False"]),
    ...(call.pure ? ["repeatable=True"] : []),
    ...(call.timeoutMs === undefined ? [] : [`timeout=${(call.timeoutMs / 1000).toFixed(1)}`]),
  ];
  const fields = `{${pairs.map(([name, value]) => `"${name}": ${value}`).join(", ")}}`;
  const args = rpc.readOnly ? [path, ...more, ...given] : [`"${rpc.httpMethod}"`, path, fields, ...more];
  const lead = result === "None" ? "await self._caller.send" : "return await self._caller.send";
  const line = `        ${lead}(${rpc.readOnly ? "read" : "change"}(${args.join(", ")}))`;
  if (line.length <= WIDTH) return line;
  return [
    `        ${lead}(`,
    `            ${rpc.readOnly ? "read" : "change"}(`,
    ...args.map((one) => `                ${one},`),
    "            )",
    "        )",
  ].join("\n");
}

/** A paged list is returned whole, or walked with `iter_...`; `limit` ends both early. */
function pagedText({ rpc, pairs, path }, positional, named) {
  const { call, request, response } = rpc;
  const field = response.fields.find(({ list, type }) => list && type.kind === "message");
  const model = valueHint(field);
  const keywords = [...named, "limit: int | None = None"];
  const filters = `{${pairs.map(([name, value]) => `"${name}": ${value}`).join(", ")}}`;
  const args = ["self._caller", path, `"${field.name}"`, model, "filters", "limit"].join(", ");
  const given = positionalText(request, positional);
  const assign = `        filters: dict[str, Any] = ${filters}`;
  const wrapped =
    assign.length <= WIDTH
      ? assign
      : [
          "        filters: dict[str, Any] = {",
          ...pairs.map(([name, value]) => `            "${name}": ${value},`),
          "        }",
        ].join("\n");
  const text = [
    signature("async def", call.py, given, keywords, `list[${model}]`),
    ...body(rpc.doc.replace(/, one page at a time/, ""), wrapped),
    `        return await listed(${args})`,
    signature("def", call.py.replace("list_", "iter_"), given, keywords, `AsyncIterator[${model}]`),
    `        """Iterates over \`\`${call.py}\`\` and fetches pages as they are needed."""`,
    wrapped,
    `        return each_item(${args})`,
  ].join("\n");
  return { models: [model], text };
}
