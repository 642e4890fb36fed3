// Installs Debian packages that a command needs. It prints every missing package with its reason before anything is
// installed, and it installs only as root; any other user gets the command to run.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * `packages`: name, a program or file that the package provides, and the reason. Throws when packages are missing and
 * cannot be installed. `command` is the name of the caller, for messages.
 */
export function requireDebianPackages(command, packages) {
  const missing = packages.filter(({ provides }) => !isPresent(provides));
  if (missing.length === 0) return;
  console.error(`${command} needs these Debian packages, which are not installed:\n\n${table(missing)}\n`);
  const names = [...new Set(missing.map(({ name }) => name))];
  const install = ["install", "-y", "--no-install-recommends", ...names];
  if (process.getuid?.() !== 0 || !isPresent("apt-get")) {
    throw new Error(`${command} installs packages only as root, on Debian. Run as root: apt-get ${install.join(" ")}`);
  }
  console.error(`Installing them with apt-get, because ${command} runs as root.`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (args) => spawnSync("apt-get", args, { stdio: "inherit", env }).status === 0;
  apt(["update"]);
  if (!apt(install)) throw new Error(`apt-get failed; its output is above. Missing packages: ${names.join(", ")}`);
}

function table(packages) {
  const width = Math.max(...packages.map(({ name }) => name.length));
  const row = (name, reason) => `  ${name.padEnd(width)}  ${reason}`;
  return [row("PACKAGE", "REASON"), ...packages.map(({ name, reason }) => row(name, reason))].join("\n");
}

/** A program on the PATH, or an absolute path in which one component may be `*`. */
function isPresent(provides) {
  if (!provides.startsWith("/"))
    return (process.env.PATH ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, provides)));
  const [before, after] = provides.split("/*/");
  if (after === undefined) return existsSync(before);
  return existsSync(before) && readdirSync(before).some((name) => existsSync(join(before, name, after)));
}
