// `npm test`: installs what is missing, builds, and runs every check there is. Plain Node without
// dependencies, since on a fresh clone nothing else exists yet. All steps run even when one fails,
// so that one run shows everything that is wrong; the exit status is 0 only when all passed. Steps that do not
// need each other run at once, since the acceptance tests mostly wait; the output of one is shown as it comes, that of
// the others whole when they are done.
//
//   npm test                    everything
//   npm test -- --unit          without the acceptance tests
//   npm test -- --acceptance    only the acceptance tests
//   npm test -- PATH...         only the test files whose path contains one of these
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./ensure-installed.mjs";

// Debian packages the tests call, with a command that each brings and the reason it is needed.
const SYSTEM_PACKAGES = [
  { name: "util-linux", command: "setsid", reason: "a job that leaves its process group must still be ended" },
  { name: "util-linux", command: "nsenter", reason: "the full-disk test runs a server inside a small file system" },
  { name: "iproute2", command: "ip", reason: "network domains are kept apart for real" },
  { name: "bsdutils", command: "script", reason: "terminals are made by it" },
  { name: "zstd", command: "zstd", reason: "stored output is compressed by it where Node cannot" },
  { name: "tmux", command: "tmux", reason: "a person at a terminal is played with it" },
  { name: "zsh", command: "zsh", reason: "its completion is asked for real" },
  { name: "fish", command: "fish", reason: "its completion is asked for real" },
  { name: "mount", command: "mount", reason: "the full-disk test mounts that small file system" },
  { name: "etcd-server", command: "etcd", reason: "the shared log is tested against real etcd members" },
  { name: "mypy", command: "mypy", reason: "the types of the Python client are checked" },
  { name: "squashfs-tools", command: "mksquashfs", reason: "software images are made and mounted for real" },
  { name: "podman", command: "podman", reason: "containers are run for real" },
  { name: "runc", command: "runc", reason: "podman runs them by it" },
  { name: "crun", command: "crun", reason: "and by this one, where a site names it" },
  { name: "docker-registry", command: "docker-registry", reason: "images are pulled from a registry of its own" },
  { name: "busybox-static", command: "busybox", reason: "the container image of the tests is made of it" },
  { name: "numactl", command: "numactl", reason: "memory policies are set by it" },
  {
    name: "mpich",
    command: "mpiexec.hydra",
    reason: "launches are tried with a real MPI library and compared with its own",
  },
  { name: "libmpich-dev", command: "mpicc.mpich", reason: "the tests compile small MPI programs" },
  { name: "openmpi-bin", command: "mpirun.openmpi", reason: "launches by PMIx are tried with the real OpenMPI" },
  { name: "libopenmpi-dev", command: "mpicc.openmpi", reason: "the tests compile small programs for it" },
  {
    name: "libpmix-dev",
    command: "../lib/x86_64-linux-gnu/pmix2/include/pmix_server.h",
    reason: "agents build their PMIx server with it",
  },
  { name: "gcc", command: "gcc", reason: "mpicc needs a compiler, and so does the cure for old MPICH" },
  { name: "libc6-dev", command: "gencat", reason: "what the compiler makes needs the C library's headers" },
  { name: "openssl", command: "openssl", reason: "etcd members that ask for certificates need some" },
  { name: "python3-pytest", command: "pytest-3", reason: "the Python client is tested with it" },
  { name: "python3-httpx", command: "../lib/python3/dist-packages/httpx", reason: "the Python client is built on it" },
];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (name) => join(root, "node_modules", ".bin", name);
const options = parseArguments(process.argv.slice(2));
const reports = mkdtempSync(join(tmpdir(), "lattice-reports-"));
process.on("exit", () => rmSync(reports, { recursive: true, force: true }));

await ensureInstalled().catch((error) => fail(error.message));
installSystemPackages();
const began = Date.now();
const results = [];
for (const group of plan(options)) {
  results.push(...(await runAtOnce(group)));
  // Without the programs every later result would be about the programs of the day before.
  if (results.some((result) => !result.ok && result.needed)) break;
}
summarise(results);
process.exit(results.every((result) => result.ok) ? 0 : 1);

function parseArguments(words) {
  const unknown = words.find((word) => word.startsWith("--") && word !== "--unit" && word !== "--acceptance");
  if (unknown !== undefined) fail(`unknown option ${unknown}; known are --unit and --acceptance`);
  const paths = words.filter((word) => !word.startsWith("--"));
  const only = words.includes("--unit") ? "unit" : words.includes("--acceptance") ? "acceptance" : null;
  return { paths, only };
}

function installSystemPackages() {
  const missing = SYSTEM_PACKAGES.filter((entry) => !onPath(entry.command));
  if (missing.length === 0) return;
  const names = [...new Set(missing.map((entry) => entry.name))];
  const wanted = missing.map((entry) => `  ${entry.name} (for ${entry.command}: ${entry.reason})`).join("\n");
  const mayInstall = process.getuid?.() === 0 && onPath("apt-get");
  if (!mayInstall) fail(`the tests need these Debian packages; install them and run again:\n${wanted}`);
  console.error(`installing Debian packages: ${names.join(", ")} ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update"], { stdio: "inherit", env });
  const done = spawnSync("apt-get", ["install", "-y", "--no-install-recommends", ...names], { stdio: "inherit", env });
  if (done.status !== 0) fail(`could not install these Debian packages:\n${wanted}`);
}

/** Groups of steps, one group after the other; the last step of each is the one that is watched. */
function plan({ paths, only }) {
  const node = process.execPath;
  const build = { name: "build", command: [node, "tools/build.mjs"], needed: true };
  const checks = [
    { name: "types", command: [node, "tools/typecheck.mjs"] },
    { name: "format and lint", command: [bin("biome"), "check", "."] },
    {
      name: "lint with types",
      command: [bin("oxlint"), "--type-aware", "-c", ".oxlintrc.json", "packages", "tests", "benches"],
    },
  ];
  const vitest = (name, ...projects) => {
    const report = join(reports, `${projects[0]}.json`);
    const chosen = projects.flatMap((project) => ["--project", project]);
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    return {
      name,
      command: [bin("vitest"), "run", ...chosen, "--passWithNoTests", ...reporters, ...paths],
      report,
    };
  };
  const unit = vitest("unit tests", "unit", "simulation");
  const acceptance = vitest("acceptance tests", "acceptance");
  const tests = [...(only === "acceptance" ? [] : [unit]), ...(only === "unit" ? [] : [acceptance])];
  return [[...(paths.length > 0 || only === "acceptance" ? [] : checks), build], tests];
}

async function runAtOnce(steps) {
  console.error(`\n== ${steps.map(({ name }) => name).join(", ")}`);
  const watched = steps.at(-1);
  const seen = runStep(watched);
  // A terminal belongs to the step that is watched, which redraws its lines as long as it runs.
  const clear = process.stderr.isTTY ? seen : Promise.resolve();
  const others = steps.slice(0, -1).map((step) => runStep(step, clear));
  return await Promise.all([...others, seen]);
}

/** With `clear` its output is kept until it has ended and `clear` as well, so that lines of two steps never mix. */
async function runStep({ name, command, needed, report }, clear = null) {
  const startedAt = Date.now();
  const { code, output } = await ended(command, clear === null ? "inherit" : "pipe");
  const seconds = (Date.now() - startedAt) / 1000;
  await clear;
  const ok = code === 0;
  console.error(`\n== ${name}: ${ok ? "passed" : "FAILED"} after ${seconds.toFixed(1)} s`);
  process.stderr.write(output);
  return { name, ok, needed, seconds, failures: ok || report === undefined ? [] : failuresIn(report) };
}

/** Its exit status, and what it has said where that goes through a pipe. */
function ended([program, ...args], stdio) {
  return new Promise((resolve) => {
    const said = [];
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", stdio, stdio] });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => said.push(chunk));
    child.on("error", (error) => resolve({ code: 1, output: `${program}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(said) }));
  });
}

/** The names of what failed, with the first line of why. */
function failuresIn(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    return testResults.flatMap((file) => {
      const where = relative(root, file.name);
      const failed = file.assertionResults.filter((result) => result.status === "failed");
      if (failed.length === 0) return file.status === "failed" ? [`${where}: ${firstLine(file.message)}`] : [];
      return failed.map((result) => `${where}: ${result.fullName}: ${firstLine(result.failureMessages[0])}`);
    });
  } catch (error) {
    return [`no report of the failures: ${error.message}`];
  }
}

function firstLine(text) {
  return String(text ?? "").split("\n")[0];
}

/** Failures last, so that whoever sees only the end of the output sees them. */
function summarise(all) {
  console.error("\n== summary");
  for (const { name, ok, seconds, failures } of all) {
    console.error(`${ok ? "passed" : "FAILED"}  ${seconds.toFixed(1).padStart(7)} s  ${name}`);
    for (const failure of failures) console.error(`            ${failure}`);
  }
  const total = (Date.now() - began) / 1000;
  console.error(`        ${total.toFixed(1).padStart(7)} s  in all, some of it at once`);
}

function onPath(command) {
  return (process.env.PATH ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, command)));
}

function fail(message) {
  console.error(`npm test: ${message}`);
  process.exit(1);
}
