// Errors for jobs that a list leaves out: unknown ones and, as with Slurm's PrivateData, jobs of other users.

import { ProblemError } from "@lattice/wire";

const CODES: ReadonlySet<string> = new Set(["unknown_allocation", "forbidden"]);

export const isHidden = (error: unknown): boolean => error instanceof ProblemError && CODES.has(error.problem.code);
