// Runs one Slurm command: loads only its code, and turns every failure into lines that start with its name and an exit
// status.

import { ProblemError } from "@lattice/wire";
import { endOnClosedOutput } from "../output/closed-output.ts";
import { clean } from "../output/text.ts";
import { version } from "../version.ts";
import type { SlurmCommand } from "./command.ts";
import { createSlurmContext, print, printError } from "./context.ts";
import { SlurmError } from "./slurm-error.ts";

const COMMANDS = {
  sbatch: () => import("./sbatch.ts"),
  squeue: () => import("./squeue.ts"),
  scancel: () => import("./scancel.ts"),
  salloc: () => import("./salloc.ts"),
  srun: () => import("./srun.ts"),
  sinfo: () => import("./sinfo.ts"),
  sacct: () => import("./sacct.ts"),
  scontrol: () => import("./scontrol.ts"),
  sstat: () => import("./sstat.ts"),
  sprio: () => import("./sprio.ts"),
  sshare: () => import("./sshare.ts"),
  sacctmgr: () => import("./sacctmgr.ts"),
  seff: () => import("./seff.ts"),
} as const satisfies Record<string, () => Promise<{ readonly command: SlurmCommand }>>;

export async function runSlurm(program: string, argv: readonly string[]): Promise<number> {
  endOnClosedOutput();
  try {
    const command = await commandOf(program);
    if (command === null) {
      printError(`lattice-slurm: error: unknown command "${program}"`);
      return 2;
    }
    const own = ownWords(argv);
    if (own.includes("--help")) return print(command.help) ?? 0;
    if (own.includes("--version") || own[0] === "-V") return print(`lattice ${version} (${program})`) ?? 0;
    return await command.run(await createSlurmContext(program, process.env), argv);
  } catch (error) {
    return report(program, error);
  }
}

async function commandOf(program: string): Promise<SlurmCommand | null> {
  if (Object.hasOwn(COMMANDS, program)) return (await COMMANDS[program as keyof typeof COMMANDS]()).command;
  return (await import("./instead.ts")).refusalOf(program);
}

/** Words before the command or script belong to the Slurm command. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word === "--" || !word.startsWith("-"));
  return end < 0 ? argv : argv.slice(0, end);
}

function report(program: string, error: unknown): number {
  if (error instanceof SlurmError) {
    for (const line of error.lines) printError(line);
    return error.exit;
  }
  if (error instanceof ProblemError) {
    const { code, detail, hint, fields } = error.problem;
    if (code === "connection_failed")
      printError(`${program}: error: Unable to contact slurm controller (connect failure)`);
    if (fields.length === 0) printError(`${program}: error: ${clean(detail)}`);
    for (const field of fields) printError(`${program}: error: ${clean(`${field.field} ${field.detail}`)}`);
    const advice = fields.find((field) => field.hint !== undefined)?.hint ?? hint;
    if (advice !== "") printError(`${program}: ${clean(advice)}`);
    return 1;
  }
  printError(`${program}: error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}
