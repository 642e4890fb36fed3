// The entry of `lattice-slurm`, the one program behind the Slurm commands: the first word is the
// command's name, which the launchers of `lattice compat install` put there.

import { runSlurm } from "./program.ts";

process.exitCode = await runSlurm(process.argv[2] ?? "", process.argv.slice(3));
