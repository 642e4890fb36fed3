// The inner program: parses its options and runs inside the namespaces that `namespaces.ts` created. It writes the report
// to a file next to the logs, for its parent.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { FAULTS, faultsNamed } from "./faults/faults.ts";
import { describeReport } from "./report.ts";
import { runChaos } from "./run.ts";
import { STOPPED } from "./stopped.ts";

const { values } = parseArgs({
  options: {
    dir: { type: "string" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "0" },
    rounds: { type: "string", default: "1" },
    faults: { type: "string", default: "" },
  },
});
const dir = values.dir;
if (dir === undefined) throw new Error("--dir is missing; start the chaos by `npm run chaos`");

// The first process of the namespaces ends with this one, and everything in them with it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(STOPPED));

const names = values.faults.split(",").filter((name) => name !== "");
const report = await runChaos({
  dir,
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  rounds: Number(values.rounds),
  faults: names.length === 0 ? FAULTS : faultsNamed(names),
  onLine: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
writeFileSync(join(dir, "report.json"), JSON.stringify(report));
console.log(describeReport(report));
console.log(JSON.stringify({ ...report, violations: report.violations.length }));
process.exit(report.violations.length === 0 ? 0 : 1);
