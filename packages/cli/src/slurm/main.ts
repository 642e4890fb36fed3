// The entry of `lattice-slurm`, the program behind all Slurm commands. The first argument is the command's name, which
// the launchers of `lattice compat install` pass.

import { runSlurm } from "./program.ts";

process.exitCode = await runSlurm(process.argv[2] ?? "", process.argv.slice(3));
