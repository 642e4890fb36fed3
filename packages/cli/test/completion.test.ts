// Completion in real shells: each gets the same lines and must suggest the same words. A stub of `lattice` stands for
// the server.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandTable } from "../src/command-table.ts";
import { bashScript } from "../src/commands/completion/bash.ts";
import { fishScript } from "../src/commands/completion/fish.ts";
import { eachCommand } from "../src/commands/completion/tree.ts";
import { zshScript } from "../src/commands/completion/zsh.ts";
import { completionTree } from "../src/commands/completion.ts";
import { bashProbe, fishProbe, STAND_IN, zshProbe } from "./completion-probes.ts";

/** Suggestions are sorted, because each shell has its own order; `FILES` are the files of the directory. */
const LINES: readonly (readonly [line: string, offered: string])[] = [
  ["adm", "admin"],
  ["admin vcluster set-w", "set-weights"],
  ["status --cou", "--count"],
  ["cancel ", "asked-allocations other-allocations"],
  ["cancel other-allocations ask", "asked-allocations"],
  ["node drain ", "asked-nodes other-nodes"],
  ["node dr", "drain"],
  ["submit --vcluster ", "asked-vclusters other-vclusters"],
  ["submit --vcluster=a", "asked-vclusters"],
  ["admin tenant show a", "asked-tenants"],
  ["__comp", ""],
  ["-o ", "json table wide yaml"],
  ["status -o js", "json"],
  ["-o json stat", "status"],
  // The word after a flag is its value, even if it is a command's name.
  ["-t status stat", "status"],
  ["--tenant=status stat", "status"],
  ["top 7 --metric=cpu_utilization,mem", "cpu_utilization,memory_used"],
  ["session end o", "other-sessions"],
  ["submit --uenv=asked-images,o", "asked-images,other-images"],
  // The same word is a command at two levels.
  ["dag status ", "asked-dags other-dags"],
  ["completion ", "bash fish zsh"],
  ["login --flow ", "browser device manual"],
  ["cancel --state=run", "running"],
  ["cancel --state pending,su", "pending,suspended"],
  ["nodes --state dow", "down"],
  ["history --state ", "cancelled completed failed"],
  ["admin vcluster create --scheduler ml", "ml-training"],
  ["cache warm --image ", "asked-images other-images"],
  ["cache evict --image=o", "other-cached-images"],
  ["cache warm --nodes asked-nodes,o", "asked-nodes,other-nodes"],
  ["launch -w o", "other-nodes"],
  ["admin tenant show --name o", "other-tenants"],
  ["admin vcluster delete --name=o", "other-vclusters"],
  ["admin raft remove-member o", "other-members"],
  ["admin restore --cluster o", "other-backup-clusters"],
  ["admin grant add o", "other-grantees"],
  ["history --user o", "other-users"],
  ["status --tag o", "other-tags"],
  ["login --server o", "other-servers"],
  ["submit --class 1", "1 10"],
  // --priority takes a word there and a weight here.
  ["submit --priority h", "high"],
  ["admin vcluster set-weights --priority file-1", "file-1.sh"],
  // -o takes a format there and a file here.
  ["audit export -o file-1", "file-1.sh"],
  ["submit file-", "file-1.sh file-2.sh"],
  ["--config file-1", "file-1.sh"],
];
const FILES = ["file-1.sh", "file-2.sh"];

let dir = "";
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-completion-"));
  mkdirSync(join(dir, "bin"));
  mkdirSync(join(dir, "fpath"));
  writeFileSync(join(dir, "bin", "lattice"), STAND_IN, { mode: 0o755 });
  for (const name of FILES) writeFileSync(join(dir, name), "");
  const tree = await completionTree(commandTable);
  writeFileSync(join(dir, "completion.bash"), bashScript(tree));
  writeFileSync(join(dir, "completion.fish"), fishScript(tree));
  writeFileSync(join(dir, "fpath", "_lattice"), zshScript(tree));
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

describe.each([
  ["bash", bashProbe],
  ["zsh", zshProbe],
  ["fish", fishProbe],
])("%s", (shell, probe) => {
  test("suggests words, flags, files and values from the server", () => {
    const program = join(dir, `probe.${shell}`);
    writeFileSync(program, probe(LINES.map(([line]) => `lattice ${line}`)));
    const output = execFileSync(shell, [...(shell === "zsh" ? ["-f"] : []), program], {
      cwd: dir,
      encoding: "utf8",
      env: {
        PATH: `${join(dir, "bin")}:${process.env.PATH}`,
        HOME: dir,
        ZDOTDIR: dir,
        TERM: "dumb",
        LC_ALL: "C.UTF-8",
      },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 240_000,
    });
    expect(offeredIn(output)).toEqual(LINES.map(([line, offered]) => `${line} => ${offered}`));
  });
});

/** Flags with free values: numbers, times, texts and files. */
const FREE = `
  --config --ca --file --key-file --trust --secret-file --data-dir --workdir --dir --output-file --error-file --data-credentials --sign
  --nodes --min-nodes --max-nodes --tasks --tasks-per-node --limit --tail --offset --attempt --max-requeue --task-group --port
  --grpc-port --checkpoint-port --max-allocations --max-network-domains --max-victims --keep-nodes --backfill-depth --days
  --walltime --walltime-seconds --since --until --duration --checkpoint-timeout --fence-timeout --cycle-interval --hours
  --default-walltime --max-walltime --near-completion-threshold --lend-max-time --lend-return-grace --lifetime --keep --grace
  --valid --gpu-hours --node-hours --burst --wait-time --fair-share --data-readiness --backlog --energy --conformance
  --name --description --reason --message --component --command --entrypoint --env --expose --probe --data-mount --data-path
  --output-to --scratch --scale-target --destination --request-id --scope --audience --site --host --serial --peer-address
  --priority --topology --checkpoint --output --network --cpus --gpus --gpu-type --mem
`.split(/\s+/);

test("every flag with known values suggests them", async () => {
  const without = eachCommand(await completionTree(commandTable)).flatMap(([path, { valued, choices, kinds }]) =>
    valued
      .filter((flag) => flag.startsWith("--") && !FREE.includes(flag))
      .filter((flag) => ![...choices, ...kinds].some(({ flags }) => flags.includes(flag)))
      .map((flag) => [...path, flag].join(" ")),
  );
  expect(without, "say what it offers in completion/flag-values.ts, or add it to FREE").toEqual([]);
});

/** The states depend on the command. */
test("every --state flag suggests its states", async () => {
  const without = eachCommand(await completionTree(commandTable))
    .filter(([, { flags }]) => flags.includes("--state"))
    .filter(([, { choices }]) => !choices.some(({ flags }) => flags.includes("--state")))
    .map(([path]) => path.join(" "));
  expect(without, "name its states in completion/flag-values.ts").toEqual([]);
});

/** A probe prints `line:` with the line, then `hit:` with each suggestion. */
function offeredIn(output: string): readonly string[] {
  const found: { readonly line: string; readonly hits: Set<string> }[] = [];
  for (const row of output.split(/\r?\n/)) {
    if (row.startsWith("line:lattice ")) found.push({ line: row.slice("line:lattice ".length), hits: new Set() });
    // Some shells return the flag together with its value.
    if (row.startsWith("hit:")) found.at(-1)?.hits.add(row.slice(4).replace(/^--[a-z]+=/, ""));
  }
  return found.map(({ line, hits }) => `${line} => ${[...hits].sort((a, b) => a.localeCompare(b)).join(" ")}`);
}
