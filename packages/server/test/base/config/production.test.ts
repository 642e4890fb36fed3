// The files that are printed from the table of settings. With UPDATE=1 the test writes them.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../../src/base/config/index.ts";
import { SETTINGS } from "../../../src/base/config/table/index.ts";
import { productionYaml, settingsPage } from "./render.ts";

const fileAt = (name: string) => fileURLToPath(new URL(`../../../../../${name}`, import.meta.url));
const path = fileAt("config/production.yaml");

test.each([
  ["config/production.yaml", productionYaml()],
  ["docs/reference/settings.md", settingsPage()],
])("%s is up to date with the table", (name, text) => {
  if (process.env.UPDATE === "1") writeFileSync(fileAt(name), text);
  expect(readFileSync(fileAt(name), "utf8")).toBe(text);
});

test("production.yaml has every setting, set or commented out", () => {
  const uncommented = readFileSync(path, "utf8").replace(/^( *)#([a-z_0-9]+: )/gm, "$1$2");
  const document: unknown = parse(uncommented);
  const missing = [...SETTINGS.keys()].filter((key) => valueAt(document, key) === undefined);
  expect(missing).toEqual([]);
  expect(SETTINGS.size).toBeGreaterThan(100);
});

function valueAt(document: unknown, key: string): unknown {
  let at = document;
  for (const name of key.split(".")) at = (at as Record<string, unknown> | undefined)?.[name];
  return at;
}

test("production.yaml sets the defaults, except for names and directories", () => {
  const production = loadConfig(path);
  const preset = loadConfig(null);
  const { server: _server, quorum, api, audit: _audit, backup, scheduler, stated: _stated, ...rest } = production;
  expect(scheduler).toEqual(preset.scheduler);
  for (const section of Object.keys(rest) as (keyof typeof rest)[]) expect(rest[section]).toEqual(preset[section]);
  expect(quorum.etcd).toEqual(preset.quorum.etcd);
  expect(api).toEqual(preset.api);
  expect(backup.retention).toEqual(preset.backup.retention);
});
