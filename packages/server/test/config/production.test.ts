// config/production.yaml calls itself every option with its default: every key of the schema is there, set or behind a #, nothing
// else is, and what is said to be a default is the one that the schema has.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/index.ts";
import { fileKeys } from "../../src/config/keys.ts";

const path = fileURLToPath(new URL("../../../../config/production.yaml", import.meta.url));

/** Every key with what it is when it is left out; null: nothing that the schema says. The files of one certificate are written on one line. */
const keysOf = (): [string, unknown][] => {
  const keys = fileKeys().map(({ key, preset }): [string, unknown] => [key, preset]);
  return [...keys.filter(([key]) => !key.startsWith("quorum.etcd.tls.")), ["quorum.etcd.tls", null]];
};

/** What the file has under each key: whether it is set, and the words after "Default:" above it. */
function written(): Map<string, { readonly set: boolean; readonly text: string | null }> {
  const found = new Map<string, { set: boolean; text: string | null }>();
  const sections: string[] = [];
  let comment: string[] = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const match = /^( *)(#?)([a-z_0-9]+):(.*)$/.exec(line);
    if (match === null) {
      const words = /^ *# (.*)$/.exec(line)?.[1];
      if (words === undefined || line.includes("#  - ")) comment = [];
      else comment.push(words.trim());
      continue;
    }
    const [, indent = "", hash = "", name = "", value = ""] = match;
    sections.length = indent.length / 2;
    const key = [...sections, name].join(".");
    if (value.trim() === "") sections.push(name);
    else {
      const text = /\bDefault: (.*)$/.exec(comment.join(" "))?.[1] ?? null;
      found.set(key, { set: hash === "", text });
    }
    comment = [];
  }
  return found;
}

const schema = new Map(keysOf());
const file = written();

test("every option is there, and nothing that is none", () => {
  expect([...schema.keys()].filter((key) => !file.has(key))).toEqual([]);
  expect([...file.keys()].filter((key) => !schema.has(key))).toEqual([]);
  expect(schema.size).toBeGreaterThan(100);
});

test("every option says its default, and it is the default", () => {
  const wrong: string[] = [];
  for (const [key, preset] of schema) {
    const text = file.get(key)?.text ?? null;
    if (text === null) wrong.push(`${key} does not say "Default: "`);
    else if (preset !== null && JSON.stringify(parse(statedIn(text))) !== JSON.stringify(preset))
      wrong.push(`${key} is ${JSON.stringify(preset)} by default, not ${text}`);
  }
  expect(wrong).toEqual([]);
});

/** What is added after a semicolon explains the value. */
const statedIn = (text: string): string => text.replace(/;.*$/, "");

test("what it sets is the default, but for what a production server is named and kept in", () => {
  const production = loadConfig(path);
  const preset = loadConfig(null);
  const { server: _server, quorum, api, audit: _audit, backup, scheduler, stated: _stated, ...rest } = production;
  expect({ ...scheduler, trace: { ...scheduler.trace, dir: "", path: "" } }).toEqual({
    ...preset.scheduler,
    trace: { ...preset.scheduler.trace, dir: "", path: "" },
  });
  for (const section of Object.keys(rest) as (keyof typeof rest)[]) expect(rest[section]).toEqual(preset[section]);
  expect(quorum.etcd).toEqual(preset.quorum.etcd);
  expect({ ...api, autoCreateTenants: true }).toEqual(preset.api);
  expect(backup.retention).toEqual(preset.backup.retention);
});
