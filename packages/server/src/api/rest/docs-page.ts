// The API description as a page: one HTML document without scripts, fonts or other external resources, generated from
// the OpenAPI document.

import type { OpenApiDocument } from "@lattice/wire";

/** The parts of OpenAPI 3.1 that the page shows. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema?: Schema;
}
interface Content {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  readonly description?: string;
}
interface Operation {
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content>>;
}
const METHODS = ["get", "post", "put", "patch", "delete"];

export function docsPage(api: OpenApiDocument): string {
  const schemas = Object.entries(api.components.schemas ?? {}) as [string, Schema][];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(api.info.title)}</title><style>${STYLE}</style></head><body>
<header><h1>${text(api.info.title)} <small>${text(api.info.version)}</small></h1>
<p>${text(String(api.info.description ?? ""))}</p><p><a href="openapi.json">openapi.json</a></p></header>
<main>${groups(api).map(group).join("\n")}
<h2 id="types">Types</h2>${schemas.map(([name, schema]) => type(name, schema)).join("\n")}</main></body></html>`;
}

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function groups(api: OpenApiDocument): [string, Listed[]][] {
  const byTag = new Map<string, Listed[]>();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of METHODS) {
      const operation = item[method] as unknown as Operation | undefined;
      if (operation === undefined) continue;
      const tag = operation.tags?.[0] ?? "Other";
      byTag.set(tag, [...(byTag.get(tag) ?? []), { method, path, operation }]);
    }
  }
  return [...byTag];
}

const group = ([tag, operations]: [string, Listed[]]): string =>
  `<h2>${text(tag)}</h2>${operations.map(operationOf).join("\n")}`;

function operationOf({ method, path, operation }: Listed): string {
  const parameters = (operation.parameters ?? []).map(
    (p) =>
      `<tr><td><code>${text(p.name)}</code></td><td>${text(p.in)}</td><td>${kind(p.schema)}</td><td>${text(p.description ?? p.schema?.description ?? "")}</td></tr>`,
  );
  const answers = Object.entries(operation.responses ?? {}).map(
    ([status, answer]) =>
      `<tr><td>${text(status)}</td><td>${contents(answer)}</td><td>${text(answer.description ?? "")}</td></tr>`,
  );
  return `<details><summary><b class="${method}">${method.toUpperCase()}</b> <code>${text(path)}</code> ${text(operation.summary ?? "")}</summary>
<p>${text(operation.description ?? "")}</p>
${parameters.length === 0 ? "" : `<h4>Parameters</h4><table>${parameters.join("")}</table>`}
${operation.requestBody === undefined ? "" : `<h4>Body</h4><p>${contents(operation.requestBody)}</p>`}
<h4>Answers</h4><table>${answers.join("")}</table></details>`;
}

function contents(content: Content): string {
  if (content.$ref !== undefined) return link(content.$ref);
  return Object.entries(content.content ?? {})
    .map(([media, { schema }]) => `<code>${text(media)}</code> ${kind(schema)}`)
    .join("<br>");
}

function type(name: string, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(
    ([field, of]) =>
      `<tr><td><code>${text(field)}</code></td><td>${kind(of)}</td><td>${text(of.description ?? "")}</td></tr>`,
  );
  return `<details id="${text(name)}"><summary><code>${text(name)}</code> ${text(schema.description ?? "")}</summary>
${rows.length === 0 ? `<p>${kind(schema)}</p>` : `<table>${rows.join("")}</table>`}</details>`;
}

function kind(schema: Schema | undefined): string {
  if (schema === undefined) return "";
  if (schema.$ref !== undefined) return link(schema.$ref);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return choices.map(kind).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `<code>${text(String(value))}</code>`).join(" | ");
  if (schema.items !== undefined) return `list of ${kind(schema.items)}`;
  if (typeof schema.additionalProperties === "object") return `map to ${kind(schema.additionalProperties)}`;
  const plain = typeof schema.type === "string" ? schema.type : (schema.type ?? []).join(" or ");
  return text(schema.format === undefined ? plain : `${plain} (${schema.format})`);
}

function link(ref: string): string {
  const name = text(ref.split("/").at(-1) ?? ref);
  return `<a href="#${name}">${name}</a>`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const text = (raw: string): string => raw.replace(/[&<>"]/g, (c) => ESCAPES[c] ?? c);

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#222;background:#fff}
code{font:13px ui-monospace,monospace;background:#f2f2f2;padding:0 .2em}summary{cursor:pointer;padding:.3rem 0}
details{border-bottom:1px solid #ddd}table{border-collapse:collapse;width:100%}td{padding:.2rem .6rem .2rem 0;vertical-align:top}
h4{margin:.6rem 0 .2rem}b{display:inline-block;min-width:4.5rem}.get{color:#06c}.post{color:#080}.patch{color:#a60}.delete{color:#b00}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{background:#2a2a2a}details{border-color:#333}a{color:#6af}}`;
