// Runs `npm ci` when node_modules does not match package-lock.json. Plain Node, because nothing is installed yet when it
// runs. npm's output is shown only when it fails. A signal ends npm too: a leftover npm would disturb the next install.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const lockFile = join(root, "package-lock.json");
/** npm writes this file last, so it exists only after a complete install. */
const installedLock = join(root, "node_modules", ".package-lock.json");
const marker = join(root, "node_modules", ".lattice-installed");
const MIN_NODE = [20, 19];
/** The end of npm's output that is kept for the error message. */
const KEPT_OUTPUT_BYTES = 64 * 1024;
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** npm ends at once on SIGTERM; an install script may not. */
const STOP_MS = 3_000;
/** Exit status after Ctrl-C, as a shell reports it. */
const STOPPED = 130;

export async function ensureInstalled() {
  refuseOldNode();
  if (isInstalled()) return;
  const stop = startProgress("Installing dependencies (npm ci)");
  const args = ["ci", "--no-audit", "--no-fund"];
  let result = await runNpm(args);
  if (isLeftover(result)) {
    // A killed install leaves directories that npm does not remove.
    rmSync(join(root, "node_modules"), { recursive: true, force: true, maxRetries: 3 });
    result = await runNpm(args);
  }
  if (result.stopped) {
    stop(null);
    console.error("Interrupted during the install. Run the command again.");
    process.exit(STOPPED);
  }
  stop(result.code === 0 ? "done" : "failed");
  if (result.code !== 0) {
    process.stderr.write(result.output);
    throw new Error(`npm ci failed with status ${result.code}; its output is above.`);
  }
  writeFileSync(marker, lockHash());
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  throw new Error(
    `Lattice needs Node.js ${MIN_NODE.join(".")} or newer; this is ${process.versions.node}.\n` +
      "Hint: Install a current Node.js from https://nodejs.org or with your package manager.",
  );
}

/** A checkout changes file times but not content, so the hash is compared as well. */
function isInstalled() {
  if (!existsSync(installedLock)) return false;
  if (existsSync(marker) && readFileSync(marker, "utf8") === lockHash()) return true;
  return statSync(installedLock).mtimeMs >= statSync(lockFile).mtimeMs;
}

const lockHash = () => createHash("sha256").update(readFileSync(lockFile)).digest("hex");

const isLeftover = ({ code, stopped, output }) => !stopped && code !== 0 && output.includes("ENOTEMPTY");

/** Runs npm in its own process group, so that its children end with it. */
function runNpm(args) {
  const npm = process.env.npm_execpath;
  const [command, all] =
    npm !== undefined && /npm-cli\.c?js$/.test(npm) ? [process.execPath, [npm, ...args]] : ["npm", args];
  return new Promise((resolve) => {
    const child = spawn(command, all, { cwd: root, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    let stopped = false;
    let killTimer;
    const keep = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT_BYTES);
    };
    const onStop = () => {
      if (stopped) return;
      stopped = true;
      signalGroup(child.pid, "SIGTERM");
      killTimer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), STOP_MS);
    };
    for (const name of STOP_SIGNALS) process.on(name, onStop);
    const end = (code, text) => {
      clearTimeout(killTimer);
      for (const name of STOP_SIGNALS) process.off(name, onStop);
      resolve({ code, output: text, stopped });
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => end(127, `cannot start npm: ${error.message}\n`));
    // "close" comes when no process of the group holds the output any more.
    child.on("close", (code) => end(code ?? 1, output));
  });
}

function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

/** An animated line on a terminal, two lines elsewhere. Ending it with null removes it. */
function startProgress(label) {
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  if (!process.stdout.isTTY) {
    console.log(`${label} ...`);
    return (how) => {
      if (how !== null) console.log(`${label}: ${how} after ${seconds()}`);
    };
  }
  const frames = ["|", "/", "-", "\\"];
  let turn = 0;
  const timer = setInterval(() => {
    process.stdout.write(`\r${frames[turn++ % frames.length]} ${label} ... ${seconds()} `);
  }, 150);
  return (how) => {
    clearInterval(timer);
    process.stdout.write(`\r\u001b[K${how === null ? "" : `${label}: ${how} after ${seconds()}\n`}`);
  };
}
