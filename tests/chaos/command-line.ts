// The command line of the chaos: which faults, how long, which seed. A failed run prints where its logs are and how to
// repeat it.
import { parseArgs } from "node:util";
import { FAULTS, faultsNamed } from "./faults/faults.ts";
import { runInNamespaces } from "./namespaces.ts";
import { STOPPED } from "./stopped.ts";

const USAGE = `usage: npm run chaos -- [--minutes M] [--rounds R] [--seed N] [--faults NAME,NAME] [--list] [--keep]
  --minutes M   strike again and again, in new orders, for so long (default: each fault once)
  --rounds R    runs of each fault, in new orders (default: 1)
  --seed N      decides the order, the targets and the load (default: 1)
  --faults ...  these alone
  --list        the faults, and what must hold after each
  --keep        leave the folder with all logs, also when all goes well`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "0" },
    rounds: { type: "string", default: "1" },
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
  const [seed, minutes, rounds] = [Number(values.seed), Number(values.minutes), Number(values.rounds)];
  if (!Number.isInteger(seed) || !(minutes >= 0) || !(Number.isInteger(rounds) && rounds > 0)) return report(USAGE, 2);
  try {
    faultsNamed(names);
  } catch (error) {
    return report(String(error), 2);
  }
  const result = await runInNamespaces({
    ...{ seed, minutes, rounds, faults: names },
    keep: values.keep === true,
    output: "inherit",
  });
  if (result.kept !== null) console.log(`logs, ledger and report: ${result.kept}`);
  if (result.code !== 0 && result.code !== STOPPED)
    console.log(`again: npm run chaos -- --seed ${seed}${repeatOf(minutes, rounds, names)}`);
  return result.code;
}

function repeatOf(minutes: number, rounds: number, names: readonly string[]): string {
  const often = `${minutes > 0 ? ` --minutes ${minutes}` : ""}${rounds > 1 ? ` --rounds ${rounds}` : ""}`;
  return `${often}${names.length > 0 ? ` --faults ${names.join(",")}` : ""}`;
}

function report(text: string, code: number): number {
  console.log(text);
  return code;
}
