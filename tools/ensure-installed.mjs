// Makes sure that node_modules is what package-lock.json asks for, and runs `npm ci` when it is
// not. Plain Node, since nothing is installed yet when this runs. npm's own output is kept back
// and shown only when it fails. A wish to stop ends npm too: one that went on would be in the way of
// the next install.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const lockFile = join(root, "package-lock.json");
/** npm writes this last, so its presence says that an install ended well. */
const installedLock = join(root, "node_modules", ".package-lock.json");
const marker = join(root, "node_modules", ".lattice-installed");
const LEAST_NODE = [20, 19];
/** What is kept of npm's output for the error message. */
const KEPT_OUTPUT_BYTES = 64 * 1024;
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
/** npm ends at once when asked to; an install script may not. */
const STOP_MS = 3_000;
/** As a shell reports a program that Ctrl-C has ended. */
const STOPPED = 130;

export async function ensureInstalled() {
  refuseOldNode();
  if (isInstalled()) return;
  const stop = startProgress("Installing dependencies (npm ci)");
  const args = ["ci", "--no-audit", "--no-fund"];
  let result = await runNpm(args);
  if (isLeftover(result)) {
    // An install that was killed half way leaves folders that npm itself does not clear.
    rmSync(join(root, "node_modules"), { recursive: true, force: true, maxRetries: 3 });
    result = await runNpm(args);
  }
  if (result.stopped) {
    stop(null);
    console.error("Stopped while installing; run npm start again.");
    process.exit(STOPPED);
  }
  stop(result.code === 0 ? "done" : "failed");
  if (result.code !== 0) {
    process.stderr.write(result.output);
    throw new Error(`npm ci ended with status ${result.code}; its output is above.`);
  }
  writeFileSync(marker, lockHash());
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return;
  throw new Error(
    `Lattice needs Node.js ${LEAST_NODE.join(".")} or newer; this is ${process.versions.node}.\n` +
      "Hint: Install a current Node.js from https://nodejs.org or with your package manager.",
  );
}

/** A fresh checkout changes the times of files but not their content, hence the hash beside the times. */
function isInstalled() {
  if (!existsSync(installedLock)) return false;
  if (existsSync(marker) && readFileSync(marker, "utf8") === lockHash()) return true;
  return statSync(installedLock).mtimeMs >= statSync(lockFile).mtimeMs;
}

const lockHash = () => createHash("sha256").update(readFileSync(lockFile)).digest("hex");

const isLeftover = ({ code, stopped, output }) => !stopped && code !== 0 && output.includes("ENOTEMPTY");

/** In a process group of its own, so that whatever npm has started ends with it. */
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
    child.on("error", (error) => end(127, `npm could not be started: ${error.message}\n`));
    // Closed means that nothing of the group holds its output any more.
    child.on("close", (code) => end(code ?? 1, output));
  });
}

function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** One line that moves on a terminal; one line at the start and the end elsewhere. Ended by null, it leaves no trace. */
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
