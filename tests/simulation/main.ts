// The command line of the simulation: one seed or many, how long, with or without faults. A failing seed is printed
// with the command that replays it, and shrunk on request.

import { parseArgs } from "node:util";
import { FAULT_KINDS } from "./faults/faults.ts";
import { describeReport, failed, type Report } from "./report.ts";
import { type RunOptions, simulate } from "./run.ts";
import { replayCommand, shrink } from "./shrink.ts";

const USAGE = `usage: npm run simulate -- [--seed N | --seeds FROM-TO] [--hours H | --minutes M]
                          [--pace TIMES] [--without KIND,KIND] [--no-faults] [--shrink] [--trace] [--quiet]
                          [--violate KIND:TIMES]  (fails when that fault has struck so often, to try --shrink)
faults: ${FAULT_KINDS.join(", ")}`;

const DEFAULT_MINUTES = 30;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    hours: { type: "string" },
    minutes: { type: "string" },
    pace: { type: "string" },
    without: { type: "string" },
    "no-faults": { type: "boolean" },
    shrink: { type: "boolean" },
    trace: { type: "boolean" },
    quiet: { type: "boolean" },
    violate: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}

const minutes =
  values.minutes !== undefined ? number(values.minutes) : number(values.hours ?? String(DEFAULT_MINUTES / 60)) * 60;
const pace = number(values.pace ?? "1");
const without = new Set((values.without ?? "").split(",").filter((kind) => kind !== ""));
for (const kind of without) if (!FAULT_KINDS.includes(kind)) stop(`there is no fault "${kind}"\n${USAGE}`);
const kinds = values["no-faults"] === true ? [] : FAULT_KINDS.filter((kind) => !without.has(kind));
const violate = values.violate === undefined ? null : made(values.violate);
const seeds = seedsOf(values.seeds ?? values.seed ?? "1");
const reports: Report[] = [];
/** Seeds whose run threw an exception, which is a bug of the simulation itself. */
const broke: number[] = [];
const begunAt = performance.now();
// A run that is interrupted still prints its results.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    progress("");
    console.log(`ended by ${signal}, ${seeds.length - reports.length - broke.length} seeds left`);
    summarise();
    process.exit();
  });
}

for (const seed of seeds) {
  progress(`seed ${seed}, ${reports.length} of ${seeds.length} done`);
  // A seed runs without yielding; signals are handled between seeds.
  await new Promise((resolve) => setImmediate(resolve));
  const run: RunOptions = { seed, minutes, kinds, pace, violate, ...(values.trace === true ? { onNote: print } : {}) };
  const began = process.cpuUsage().user;
  const report = await simulate(run).catch((error: unknown) => {
    console.log(`seed ${seed} BROKE: ${error instanceof Error ? error.stack : String(error)}`);
    console.log(`  replay: ${replayCommand(run)}`);
    return null;
  });
  if (report === null) {
    broke.push(seed);
    continue;
  }
  reports.push(report);
  progress("");
  if (values.quiet !== true || failed(report))
    console.log(describeReport(report, (process.cpuUsage().user - began) / 1e6));
  if (failed(report)) await explain(report, run);
}
summarise();

async function explain(report: Report, run: RunOptions): Promise<void> {
  const { violation, tooLittle } = report;
  if (violation !== null)
    console.log(`  VIOLATED ${violation.rule} after ${violation.atMs / 1000} s: ${violation.detail}`);
  for (const shortage of tooLittle) console.log(`  TOO LITTLE ${shortage}`);
  console.log(`  replay: ${replayCommand(run)}`);
  if (values.shrink !== true || violation === null) return;
  const shorter = await shrink(run, violation, (text) => progress(text));
  progress("");
  console.log(`  shorter: ${replayCommand(shorter)}`);
}

function summarise(): void {
  const bad = [...reports.filter(failed).map(({ seed }) => seed), ...broke];
  const hours = reports.reduce((sum, { simulatedMinutes }) => sum + simulatedMinutes, 0) / 60;
  const seconds = (performance.now() - begunAt) / 1000;
  const sum = (name: string): number => reports.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);
  const faults = reports.reduce((total, report) => total + Object.values(report.faults).reduce((a, b) => a + b, 0), 0);
  const elections = reports.reduce((total, report) => total + report.elections, 0);
  console.log(
    `${reports.length} seeds, ${hours.toFixed(1)} simulated hours in ${seconds.toFixed(0)} s: ${sum("commands")} commands, ` +
      `${sum("submitted")} submissions, ${sum("starts")} starts, ${faults} faults, ${elections} elections; ` +
      `${bad.length} failed${bad.length === 0 ? "" : `: ${bad.join(" ")}`}`,
  );
  process.exitCode = bad.length === 0 ? 0 : 1;
}

function seedsOf(text: string): number[] {
  const [from = "", to = from] = text.split("-");
  const first = number(from);
  return Array.from({ length: number(to) - first + 1 }, (_, n) => first + n);
}

function made(text: string): { readonly kind: string; readonly times: number } {
  const [kind = "", times = ""] = text.split(":");
  if (!FAULT_KINDS.includes(kind)) stop(`there is no fault "${kind}"\n${USAGE}`);
  return { kind, times: number(times) };
}

function number(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || text === "") stop(`"${text}" is not a number\n${USAGE}`);
  return value;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function print(atMs: number, text: string): void {
  console.log(`${(atMs / 1000).toFixed(3).padStart(10)} ${text}`);
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}
