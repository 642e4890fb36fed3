// Type-checks every package with its own compiler settings: the pure packages see neither DOM nor Node types, so a clock
// or a socket there is a compile error. Runs one compiler per core; the output of each is shown when it ends.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", ".bin", "tsc");
const only = process.argv.slice(2);
const projects = readdirSync(join(root, "packages"))
  .filter((name) => only.length === 0 || only.includes(name))
  .flatMap((name) => ["tsconfig.json", "tsconfig.test.json"].map((file) => join("packages", name, file)));
// The project of all tests takes longest, so it starts first.
if (only.length === 0) projects.unshift("tsconfig.json");

const waiting = projects.filter((project) => existsSync(join(root, project)));
let failed = 0;
await Promise.all(Array.from({ length: availableParallelism() }, checkNext));
process.exit(failed === 0 ? 0 : 1);

async function checkNext() {
  for (let project = waiting.shift(); project !== undefined; project = waiting.shift()) {
    const { code, output } = await compile(project);
    process.stderr.write(output);
    if (code === 0) continue;
    console.error(`typecheck failed: ${project}`);
    failed += 1;
  }
}

function compile(project) {
  return new Promise((resolve) => {
    const output = [];
    const child = spawn(tsc, ["-p", project], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => output.push(chunk));
    child.on("error", (error) => resolve({ code: 1, output: Buffer.from(`${tsc}: ${error.message}\n`) }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output) }));
  });
}
