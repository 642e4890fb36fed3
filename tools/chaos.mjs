// `npm run chaos -- [options]`: installs what the run needs, builds, and strikes a real cluster with one fault after
// another. Debian packages are installed when root runs it and one is missing; elsewhere they are named.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./ensure-installed.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Each with a program, or a file, that it brings. */
const PACKAGES = [
  { name: "iproute2", brings: "ip" },
  { name: "etcd-server", brings: "etcd" },
  { name: "etcd-client", brings: "etcdctl" },
  { name: "e2fsprogs", brings: "mkfs.ext4" },
  { name: "util-linux", brings: "nsenter" },
  { name: "libfaketime", brings: "/usr/lib/*/faketime/libfaketimeMT.so.1" },
];

await ensureInstalled();
installPackages();
const { buildAll } = await import("./build.mjs");
await buildAll({ quiet: true });
const args = ["--import", "tsx", "tests/chaos/command-line.ts", ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
// Ctrl-C reaches the run by itself; this waits until it has cleared up.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (status) => process.exit(status ?? 1));

function installPackages() {
  const missing = PACKAGES.filter(({ brings }) => !isThere(brings)).map(({ name }) => name);
  if (missing.length === 0) return;
  const line = `apt-get install -y --no-install-recommends ${missing.join(" ")}`;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.error(`Missing: ${missing.join(", ")}. On Debian, as root: ${line}`);
    process.exit(2);
  }
  console.log(`Installing ${missing.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const [program, ...words] = line.split(" ");
  let done = spawnSync(program, words, { env, stdio: "ignore" });
  if (done.status !== 0) {
    // The lists may be older than what the mirrors hold.
    spawnSync(program, ["update"], { env, stdio: "ignore" });
    done = spawnSync(program, words, { env, stdio: "inherit" });
  }
  if (done.status !== 0) process.exit(2);
}

function isThere(what) {
  const test = what.startsWith("/") ? `ls ${what}` : `command -v ${what}`;
  return spawnSync("sh", ["-c", `${test} >/dev/null 2>&1`]).status === 0;
}
