// `npm test`: installs what is missing, builds, and runs every check. Plain Node without dependencies, because a fresh
// clone has nothing else. Every step runs even when an earlier one fails, so that one run shows all failures; the exit
// status is 0 only when all steps passed. Independent steps run in parallel: the output of one is shown live, the output
// of the others when they end.
//
//   npm test                      everything
//   npm test -- --unit            without the acceptance tests
//   npm test -- --acceptance      only the acceptance tests
//   npm test -- PATH...           only test files whose path contains one of these
//   npm test -- --record-times    also stores how long test files take, which orders later runs (test-times.json)
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { requireDebianPackages } from "./debian-packages.mjs";
import { ensureInstalled } from "./ensure-installed.mjs";

const PACKAGES = [
  { name: "util-linux", provides: "setsid", reason: "jobs that leave their process group must still be ended" },
  { name: "util-linux", provides: "nsenter", reason: "the full-disk test runs a server in a small file system" },
  { name: "iproute2", provides: "ip", reason: "network domains in real network namespaces" },
  { name: "bsdutils", provides: "script", reason: "terminals of jobs" },
  { name: "zstd", provides: "zstd", reason: "compression of stored output where Node has none" },
  { name: "tmux", provides: "tmux", reason: "a user at a terminal" },
  { name: "zsh", provides: "zsh", reason: "completion in the real shell" },
  { name: "fish", provides: "fish", reason: "completion in the real shell" },
  { name: "mount", provides: "mount", reason: "the small file system of the full-disk test" },
  { name: "etcd-server", provides: "etcd", reason: "the replicated log on real etcd members" },
  { name: "mypy", provides: "mypy", reason: "type checks of the Python SDK" },
  { name: "squashfs-tools", provides: "mksquashfs", reason: "real software images" },
  { name: "podman", provides: "podman", reason: "real containers" },
  { name: "runc", provides: "runc", reason: "the default container runtime of podman" },
  { name: "crun", provides: "crun", reason: "an alternative container runtime" },
  { name: "docker-registry", provides: "docker-registry", reason: "a local registry to pull images from" },
  { name: "busybox-static", provides: "busybox", reason: "the content of the test image" },
  { name: "nftables", provides: "nft", reason: "the overlay of network domains" },
  { name: "numactl", provides: "numactl", reason: "memory policies" },
  { name: "mpich", provides: "mpiexec.hydra", reason: "launches with a real MPI library" },
  { name: "libmpich-dev", provides: "mpicc.mpich", reason: "small MPI programs of the tests" },
  { name: "openmpi-bin", provides: "mpirun.openmpi", reason: "launches over PMIx with OpenMPI" },
  { name: "libopenmpi-dev", provides: "mpicc.openmpi", reason: "small OpenMPI programs of the tests" },
  {
    name: "libpmix-dev",
    provides: "/usr/lib/*/pmix2/include/pmix_server.h",
    reason: "headers of the agent's PMIx server",
  },
  { name: "gcc", provides: "gcc", reason: "the native programs and mpicc" },
  { name: "libc6-dev", provides: "gencat", reason: "headers of the C library" },
  { name: "openssl", provides: "openssl", reason: "certificates of etcd members" },
  { name: "passwd", provides: "useradd", reason: "real accounts for the attacks on a root agent" },
  { name: "prometheus", provides: "promtool", reason: "checks of the metrics pages and the alert rules" },
  { name: "python3-pytest", provides: "pytest-3", reason: "tests of the Python SDK" },
  { name: "python3-httpx", provides: "/usr/lib/python3/dist-packages/httpx", reason: "the Python SDK" },
];

const OPTIONS = ["--unit", "--acceptance", "--record-times"];
const TIMES_FILE = "tests/harness/test-times.json";
/** Shorter files are not recorded: their order does not matter. */
const RECORDED_SECONDS = 5;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bin = (name) => join(root, "node_modules", ".bin", name);
const options = parseArguments(process.argv.slice(2));
const reports = mkdtempSync(join(tmpdir(), "lattice-reports-"));
process.on("exit", () => rmSync(reports, { recursive: true, force: true }));

try {
  await ensureInstalled();
  requireDebianPackages("npm test", PACKAGES);
} catch (error) {
  fail(error.message);
}
const startedAt = Date.now();
const results = [];
for (const group of planSteps(options)) {
  results.push(...(await runInParallel(group)));
  // Without a build the tests would run stale programs.
  if (results.some((result) => !result.ok && result.required)) break;
}
if (options.recordTimes) recordTimes(results);
printSummary(results);
process.exit(results.every((result) => result.ok) ? 0 : 1);

function parseArguments(words) {
  const unknown = words.find((word) => word.startsWith("--") && !OPTIONS.includes(word));
  if (unknown !== undefined) fail(`unknown option ${unknown}; known options: ${OPTIONS.join(", ")}`);
  const paths = words.filter((word) => !word.startsWith("--"));
  const only = words.includes("--unit") ? "unit" : words.includes("--acceptance") ? "acceptance" : null;
  return { paths, only, recordTimes: words.includes("--record-times") };
}

/** Returns groups of parallel steps, in order. The last step of a group is shown live. */
function planSteps({ paths, only }) {
  const node = process.execPath;
  const build = { name: "build", command: [node, "tools/build.mjs"], required: true };
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
    const selected = projects.flatMap((project) => ["--project", project]);
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    return {
      name,
      command: [bin("vitest"), "run", ...selected, "--passWithNoTests", ...reporters, ...paths],
      report,
    };
  };
  const unit = vitest("unit tests", "unit", "simulation");
  const acceptance = vitest("acceptance tests", "acceptance");
  const tests = [...(only === "acceptance" ? [] : [unit]), ...(only === "unit" ? [] : [acceptance])];
  return [[...(paths.length > 0 || only === "acceptance" ? [] : checks), build], tests];
}

async function runInParallel(steps) {
  console.error(`\n== ${steps.map(({ name }) => name).join(", ")}`);
  const live = runStep(steps.at(-1));
  // The live step redraws its lines on a terminal, so the others must wait for its end.
  const clear = process.stderr.isTTY ? live : Promise.resolve();
  const others = steps.slice(0, -1).map((step) => runStep(step, clear));
  return await Promise.all([...others, live]);
}

/** With `clear`, holds the output back until the step and `clear` have ended, so that lines of two steps never mix. */
async function runStep({ name, command, required, report }, clear = null) {
  const stepStart = Date.now();
  const { code, output } = await run(command, clear === null ? "inherit" : "pipe");
  const seconds = (Date.now() - stepStart) / 1000;
  await clear;
  const ok = code === 0;
  console.error(`\n== ${name}: ${ok ? "passed" : "FAILED"} after ${seconds.toFixed(1)} s`);
  process.stderr.write(output);
  return { name, ok, required, seconds, report, failures: ok || report === undefined ? [] : failuresIn(report) };
}

/** Resolves with the exit status, and with the output when it goes through a pipe. */
function run([program, ...args], stdio) {
  return new Promise((resolve) => {
    const output = [];
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", stdio, stdio] });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(chunk));
    child.on("error", (error) => resolve({ code: 1, output: `${program}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(output) }));
  });
}

/** Returns the failed tests, each with the first line of its error. */
function failuresIn(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    return testResults.flatMap((file) => {
      const path = relative(root, file.name);
      const failed = file.assertionResults.filter((result) => result.status === "failed");
      if (failed.length === 0) return file.status === "failed" ? [`${path}: ${firstLine(file.message)}`] : [];
      return failed.map((result) => `${path}: ${result.fullName}: ${firstLine(result.failureMessages[0])}`);
    });
  } catch (error) {
    return [`the list of failed tests cannot be read: ${error.message}`];
  }
}

function firstLine(text) {
  return String(text ?? "").split("\n")[0];
}

/** Merges the durations of this run into the recorded ones, and drops files that no longer exist. */
function recordTimes(all) {
  const path = join(root, TIMES_FILE);
  const times = new Map(Object.entries(JSON.parse(readFileSync(path, "utf8"))));
  for (const { report } of all.filter((result) => result.report !== undefined && existsSync(result.report))) {
    for (const { name, startTime, endTime } of JSON.parse(readFileSync(report, "utf8")).testResults) {
      times.set(relative(root, name), Math.round((endTime - startTime) / 1000));
    }
  }
  const kept = [...times].filter(([file, seconds]) => seconds >= RECORDED_SECONDS && existsSync(join(root, file)));
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  console.error(`\nRecorded the durations of ${kept.length} test files in ${TIMES_FILE}.`);
}

/** Prints failures below their step, at the end of the output where they are seen first. */
function printSummary(all) {
  console.error("\n== summary");
  for (const { name, ok, seconds, failures } of all) {
    console.error(`${ok ? "passed" : "FAILED"}  ${seconds.toFixed(1).padStart(7)} s  ${name}`);
    for (const failure of failures) console.error(`            ${failure}`);
  }
  const total = (Date.now() - startedAt) / 1000;
  console.error(`        ${total.toFixed(1).padStart(7)} s  total; some steps ran in parallel`);
}

function fail(message) {
  console.error(`npm test: ${message}`);
  process.exit(1);
}
