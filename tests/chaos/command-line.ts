// The command line of the chaos: which faults, how long, which seed. A failed run prints where its logs are and how to
// repeat it.
import { parseArgs } from "node:util";
import { FAULTS, faultsNamed } from "./faults/faults.ts";
import { runInNamespaces } from "./namespaces.ts";
import { STOPPED } from "./stopped.ts";

const USAGE = `usage: npm run chaos -- [--minutes M] [--seed N] [--faults NAME,NAME] [--list] [--keep]
  --minutes M   strike again and again, in new orders, for so long (default: each fault once)
  --seed N      decides the order, the targets and the load (default: 1)
  --faults ...  these alone
  --list        the faults, and what must hold after each
  --keep        leave the folder with all logs, also when all goes well`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    faults: { type: "string", default: "" },
    list: { type: "boolean" },
    keep: { type: "boolean" },
    help: { type: "boolean" },
  },
});
process.exitCode = await main();

async function main(): Promise<number> {
  if (values.help === true) return report(USAGE, 0);
  if (values.list === true)
    return report(FAULTS.map(({ name, expectation }) => `${name}: ${expectation}`).join("\n"), 0);
  const names = values.faults.split(",").filter((name) => name !== "");
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
  if (!Number.isInteger(seed) || !(minutes >= 0)) return report(USAGE, 2);
  try {
    faultsNamed(names);
  } catch (error) {
    return report(String(error), 2);
  }
  const result = await runInNamespaces({ seed, minutes, faults: names, keep: values.keep === true, output: "inherit" });
  if (result.kept !== null) console.log(`logs, ledger and report: ${result.kept}`);
  if (result.code !== 0 && result.code !== STOPPED)
    console.log(`again: npm run chaos -- --seed ${seed}${repeatOf(minutes, names)}`);
  return result.code;
}

function repeatOf(minutes: number, names: readonly string[]): string {
  return `${minutes > 0 ? ` --minutes ${minutes}` : ""}${names.length > 0 ? ` --faults ${names.join(",")}` : ""}`;
}

function report(text: string, code: number): number {
  console.log(text);
  return code;
}
