// The sources of settings and their precedence.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProblemError } from "@lattice/wire";
import { afterAll, describe, expect, test } from "vitest";
import { checkConfig, readConfigFile } from "../src/settings/config-file.ts";
import { type Flags, NO_FLAGS, resolveSettings } from "../src/settings/settings.ts";

const noFlags: Flags = { ...NO_FLAGS, noColor: false };

const resolve = (given: { flags?: Partial<Flags>; env?: NodeJS.ProcessEnv; file?: object; isTerminal?: boolean }) =>
  resolveSettings({
    flags: { ...noFlags, ...given.flags },
    env: given.env ?? {},
    file: given.file ?? {},
    username: "ada",
    isTerminal: given.isTerminal ?? false,
  });

describe("precedence", () => {
  test("defaults apply without any source", () => {
    expect(resolve({})).toMatchObject({
      url: "http://127.0.0.1:8080",
      user: "ada",
      output: "table",
      tenant: undefined,
    });
  });

  test("flags win over the environment, the environment over the file", () => {
    const file = { url: "http://file:1", tenant: "from-file", vcluster: "from-file" };
    const env = { LATTICE_API_URL: "http://env:2", LATTICE_TENANT: "from-env" };
    const flags = { url: "http://flag:3" };
    expect(resolve({ file, env, flags })).toMatchObject({
      url: "http://flag:3",
      tenant: "from-env",
      vcluster: "from-file",
    });
  });

  test("LATTICE_API_URL wins over LATTICE_ENDPOINT, and empty means unset", () => {
    expect(resolve({ env: { LATTICE_ENDPOINT: "host:9" } }).url).toBe("https://host:9");
    expect(resolve({ env: { LATTICE_ENDPOINT: "host:9", LATTICE_API_URL: "https://api" } }).url).toBe("https://api");
    expect(resolve({ env: { LATTICE_API_URL: "a:1, https://b/" } }).url).toBe("https://a:1,https://b");
    expect(resolve({ env: { LATTICE_API_URL: "" } }).url).toBe("http://127.0.0.1:8080");
  });

  test.each([
    ["cluster.example.com", "https://cluster.example.com:8080"],
    ["cluster.example.com/", "https://cluster.example.com:8080"],
    ["10.0.0.7:50051", "https://10.0.0.7:50051"],
    ["gate.example.com/lattice", "https://gate.example.com/lattice"],
    ["localhost", "http://localhost:8080"],
    ["127.0.0.1:9", "http://127.0.0.1:9"],
    ["[::1]", "http://[::1]:8080"],
    ["http://10.0.0.7", "http://10.0.0.7"],
  ])("%s becomes %s: remote hosts get https unless http is written", (host, url) => {
    expect(resolve({ flags: { url: host } }).url).toBe(url);
  });

  test("only the command line filters lists", () => {
    const file = { tenant: "physics", vcluster: "batch" };
    expect(resolve({ file, env: { LATTICE_TENANT: "chemistry" } }).named).toEqual({});
    expect(resolve({ file, flags: { vcluster: "debug" } })).toMatchObject({
      tenant: "physics",
      named: { vcluster: "debug" },
    });
  });

  test("colours need a terminal and can be disabled", () => {
    expect(resolve({ isTerminal: true }).color).toBe(true);
    expect(resolve({ isTerminal: false }).color).toBe(false);
    expect(resolve({ isTerminal: true, env: { NO_COLOR: "1" } }).color).toBe(false);
    expect(resolve({ isTerminal: true, flags: { noColor: true } }).color).toBe(false);
    expect(resolve({ isTerminal: true, file: { color: false } }).color).toBe(false);
  });

  test.each([["ftp://x"], ["http://a,"], ["http://"], ["::::"]])("the address %s is refused", (url) => {
    expect(() => resolve({ flags: { url } })).toThrow(ProblemError);
  });

  test("an unknown output format in the file is refused", () => {
    expect(() => resolve({ file: { output: "xml" } })).toThrow(/xml/);
  });
});

describe("configuration file", () => {
  const dir = mkdtempSync(join(tmpdir(), "lattice-config-"));
  afterAll(() => rmSync(dir, { recursive: true, maxRetries: 9 }));

  test("both names of a key work", () => {
    expect(checkConfig({ api_url: "a", default_tenant: "t", default_vcluster: "v", color: true }, "f")).toEqual({
      url: "a",
      tenant: "t",
      vcluster: "v",
      color: true,
    });
    expect(checkConfig({ endpoint: "a", tenant: "t", vcluster: "v" }, "f")).toEqual({
      url: "a",
      tenant: "t",
      vcluster: "v",
    });
  });

  test("the error names an unknown key", () => {
    expect(() => checkConfig({ api_ulr: "a" }, "f")).toThrow('unknown key "api_ulr"');
  });

  test("a value of the wrong type is refused", () => {
    expect(() => checkConfig({ tenant: 7 }, "f")).toThrow("tenant must be a string");
    expect(() => checkConfig(["a"], "f")).toThrow("key: value");
  });

  test("the default file is YAML and optional", async () => {
    expect(await readConfigFile(undefined, { XDG_CONFIG_HOME: dir })).toEqual({});
    const path = join(dir, "config.yaml");
    writeFileSync(path, 'api_url: "http://x:1" # comment\nuser: grace\n');
    expect(await readConfigFile(path, {})).toEqual({ url: "http://x:1", user: "grace" });
  });

  test("the file of --config must exist", async () => {
    await expect(readConfigFile(join(dir, "absent.yaml"), {})).rejects.toThrow("does not exist");
  });
});
