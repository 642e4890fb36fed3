// Prints the table of settings: config/production.yaml, which lists every option, and the reference page.

import { stringify } from "yaml";
import { isSetting, type Section, type SettingRow } from "../../../src/base/config/schema/setting.ts";
import { SECTION_DOCS, TABLE } from "../../../src/base/config/table/index.ts";

/** Values that a production server sets instead of the default. */
const PRODUCTION: Readonly<Record<string, unknown>> = {
  "server.id": "lattice-01",
  "server.data_dir": "/var/lib/lattice",
  "server.production": true,
  "quorum.data_dir": "/var/lib/lattice/log",
  "api.auto_create_tenants": false,
};

const WIDTH = 100;

const YAML_HEAD = `# Every option of lattice-server, with its meaning and its default. Written by npm run generate.
#
# Values are taken as written: variables are not expanded. An unknown key is refused. Durations
# carry a unit: ms, s, m, h or d. Flags of the program override the file. A key behind # is not set
# here and has its default. Secrets are references: env://NAME, file:///path or vault://path.
`;

export function productionYaml(): string {
  const sections = Object.entries(TABLE as Section).map(([name, section]) =>
    [...comment(SECTION_DOCS[name as keyof typeof TABLE], ""), `${name}:`, ...yamlOf(section, name)].join("\n"),
  );
  return `${[YAML_HEAD.trimEnd(), ...sections].join("\n\n")}\n`;
}

function yamlOf(section: SettingRow | Section, at: string): readonly string[] {
  const indent = "  ".repeat(at.split(".").length);
  return Object.entries(section as Section).flatMap(([name, node]) => {
    const key = `${at}.${name}`;
    if (!isSetting(node)) return [`${indent}${name}:`, ...yamlOf(node, key)];
    const set = Object.hasOwn(PRODUCTION, key) ? PRODUCTION[key] : node.preset;
    const line = `${name}: ${flow(set ?? node.example)}`;
    return [...documented(node, indent), `${indent}${set === null ? "#" : ""}${line}`];
  });
}

/** The default is on its own line unless it fits after the text. */
function documented(node: SettingRow, indent: string): readonly string[] {
  const preset = `Default: ${node.preset === null ? node.unset : flow(node.preset)}`;
  const lines = comment(node.doc, indent);
  const last = `${lines.at(-1) ?? ""} ${preset}`;
  return last.length <= WIDTH ? [...lines.slice(0, -1), last] : [...lines, ...comment(preset, indent)];
}

const flow = (value: unknown): string =>
  stringify(value, { collectionStyle: "flow", flowCollectionPadding: true, lineWidth: 0 }).trim();

function comment(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = `${indent}#`;
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = `${indent}#`;
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

const PAGE_HEAD = `# Settings

Every key of the configuration file of \`lattice-server\`. Generated from the table of settings in the code by \`npm run generate\`; do not
edit. A *live* setting can be changed for the whole cluster with \`lattice admin config set\` while servers run; see
[Settings at run time](../operating/settings.md). [config/production.yaml](../../config/production.yaml) lists all of them as a file.
`;

export function settingsPage(): string {
  const sections = Object.entries(TABLE as Section).map(([name, section]) => {
    const doc = SECTION_DOCS[name as keyof typeof TABLE];
    const head = ["| key | default | live | meaning |", "|---|---|---|---|"];
    return [`## ${name}`, "", linked(doc), "", ...head, ...rowsBelow(section, name)].join("\n");
  });
  return `${[PAGE_HEAD.trimEnd(), ...sections].join("\n\n")}\n`;
}

const rowsBelow = (section: SettingRow | Section, at: string): readonly string[] =>
  Object.entries(section as Section).flatMap(([name, node]) => {
    const key = `${at}.${name}`;
    if (!isSetting(node)) return rowsBelow(node, key);
    const preset = node.preset === null ? linked(node.unset) : `\`${flow(node.preset)}\``;
    return [`| \`${key}\` | ${preset} | ${node.live ? "yes" : ""} | ${linked(node.doc)} |`];
  });

/** Paths of pages become links; placeholders must not be read as HTML. */
const linked = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .replace(/<([a-z_.]+)>/g, "`<$1>`")
    .replace(/docs\/((?:operating|users)\/([\w-]+)\.md)/g, "[$2](../$1)");
