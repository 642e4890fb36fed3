// `npm start` before anything is installed: stopped during the install, and after a killed install. The tests use a copy
// of the tools with a stub of npm.

import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const tools = fileURLToPath(new URL("../../../tools", import.meta.url));
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

function fakeClone(npm: string): { root: string; npm: string } {
  const root = mkdtempSync(join(tmpdir(), "lattice-install-"));
  folders.push(root);
  mkdirSync(join(root, "tools"));
  for (const name of ["start.mjs", "ensure-installed.mjs", "debian-packages.mjs"])
    copyFileSync(join(tools, name), join(root, "tools", name));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  writeFileSync(join(root, "package-lock.json"), "{}");
  // After a successful install, start.mjs imports this next.
  writeFileSync(join(root, "tools", "build.mjs"), 'export const buildAll = () => { throw new Error("built") };');
  const path = join(root, "npm-cli.cjs");
  writeFileSync(path, npm);
  return { root, npm: path };
}

function startIn({ root, npm }: { root: string; npm: string }) {
  const child = spawn(process.execPath, [join(root, "tools", "start.mjs")], {
    env: { ...process.env, npm_execpath: npm },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return { child, output: () => output, ended: closed(child) };
}

const closed = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once("close", resolve));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends npm and its children", async (signal) => {
  const clone = fakeClone(`
    const script = require("node:child_process").spawn("sleep", ["600"], { stdio: "inherit" });
    require("node:fs").writeFileSync(__dirname + "/pids", process.pid + " " + script.pid);
    setInterval(() => {}, 1e6);`);
  const { child, output, ended } = startIn(clone);
  const file = join(clone.root, "pids");
  await until(() => existsSync(file) && readFileSync(file, "utf8").includes(" "));
  const pids = readFileSync(file, "utf8").split(" ").map(Number);
  child.kill(signal);
  expect(await ended, output()).toBe(130);
  expect(output()).toContain("Interrupted during the install. Run the command again.\n");
  expect(output()).not.toContain("failed");
  await until(() => !pids.some(isAlive));
});

test("leftovers of a killed install are removed once", async () => {
  const clone = fakeClone(`
    const fs = require("node:fs");
    const modules = process.cwd() + "/node_modules";
    fs.appendFileSync(__dirname + "/runs", "x");
    if (fs.existsSync(modules + "/left")) { console.error("npm error code ENOTEMPTY"); process.exit(190); }
    fs.mkdirSync(modules); fs.writeFileSync(modules + "/.package-lock.json", "{}");`);
  mkdirSync(join(clone.root, "node_modules", "left"), { recursive: true });
  const { ended, output } = startIn(clone);
  expect(await ended).toBe(1);
  expect(output()).toContain("Error: built");
  expect(readFileSync(join(clone.root, "runs"), "utf8")).toBe("xx");
});

test("any other failed install shows npm's output and is not repeated", async () => {
  const clone = fakeClone(
    'require("node:fs").appendFileSync(__dirname + "/runs", "x"); console.error("npm error E404"); process.exit(1)',
  );
  const { ended, output } = startIn(clone);
  expect(await ended).toBe(1);
  expect(output()).toContain("npm error E404");
  expect(output()).toContain("npm ci failed with status 1");
  expect(readFileSync(join(clone.root, "runs"), "utf8")).toBe("x");
});
