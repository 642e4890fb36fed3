// Compiles the native programs and libraries with the C compiler of the machine.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Programs that run as root, on input of users. */
const HARDENED = ["-fPIE", "-pie", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now"];

/** Programs without a C library run in any container image. */
const BARE = ["-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns"];

export const hasCompiler = () => spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;

/** Compiles all C files of the entry's directory into `dist`. Returns the inputs and the output. */
export function compile(root, program, dist) {
  const folder = dirname(program.entry);
  const inputs = readdirSync(join(root, folder)).map((name) => join(folder, name));
  const output = `${basename(program.entry, ".c")}${program.shared === true ? ".so" : ""}`;
  const partial = join(dist, `.${output}.${process.pid}.partial`);
  mkdirSync(dist, { recursive: true });
  const sources = inputs.filter((file) => file.endsWith(".c"));
  const warnings = program.pmix === true ? [] : ["-Wall", "-Wextra"];
  const kind = program.shared === true ? ["-shared", "-fPIC"] : program.bare === true ? BARE : HARDENED;
  const flags = ["-O2", ...warnings, "-D_GNU_SOURCE", ...kind];
  const libraries = program.pmix === true ? pmixFlags(findPmix()) : program.bare === true ? [] : ["-ldl"];
  const done = spawnSync("cc", [...flags, "-o", partial, ...sources, ...libraries], { cwd: root, encoding: "utf8" });
  if (done.stderr !== "") console.error(done.stderr);
  if (done.status !== 0) throw Object.assign(new Error(`cc failed with status ${done.status}`), { errors: [] });
  renameSync(partial, join(dist, output));
  return { inputs, output };
}

const pmixFlags = ({ headers, folder }) => [
  ...["-I", headers, "-I", join(headers, "pmix")],
  ...["-L", folder, `-Wl,-rpath,${folder}`, "-lpmix", "-lpthread"],
];

/** Searches where distributions and sites install libpmix, as the agent does. Returns null without headers and library. */
export function findPmix() {
  const folders = existsSync("/usr/lib") ? readdirSync("/usr/lib").map((name) => join("/usr/lib", name)) : [];
  for (const place of [...folders.map((folder) => join(folder, "pmix2")), "/usr", "/usr/local", "/opt/pmix"]) {
    const headers = join(place, "include");
    if (!existsSync(join(headers, "pmix_server.h"))) continue;
    const folder = [join(place, "lib"), join(place, "lib64"), ...folders].find((each) =>
      existsSync(join(each, "libpmix.so")),
    );
    if (folder !== undefined) return { headers, folder };
  }
  return null;
}
