// `npm run chaos -- [options]`: installs what the run needs, builds, and injects one fault after another into a real
// cluster.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { requireDebianPackages } from "./debian-packages.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const PACKAGES = [
  { name: "iproute2", provides: "ip", reason: "network faults between the nodes" },
  { name: "etcd-server", provides: "etcd", reason: "members of the replicated log" },
  { name: "etcd-client", provides: "etcdctl", reason: "checks of the members" },
  { name: "e2fsprogs", provides: "mkfs.ext4", reason: "small file systems, for full disks" },
  { name: "util-linux", provides: "nsenter", reason: "commands inside the namespaces of nodes" },
  { name: "libfaketime", provides: "/usr/lib/*/faketime/libfaketimeMT.so.1", reason: "clock jumps" },
];

await ensureInstalled();
try {
  requireDebianPackages("npm run chaos", PACKAGES);
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const { buildAll } = await import("./build.mjs");
await buildAll({ quiet: true });
const args = ["--import", "tsx", "tests/chaos/command-line.ts", ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
// Ctrl-C reaches the child too; this process waits until it has cleaned up.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (status) => process.exit(status ?? 1));
