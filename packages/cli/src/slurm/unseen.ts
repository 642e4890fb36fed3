// Jobs that a listing leaves out: those that are not there and, as with Slurm's PrivateData, those of others.

import { ProblemError } from "@lattice/wire";

const CODES: ReadonlySet<string> = new Set(["unknown_allocation", "forbidden"]);

export const isUnseen = (error: unknown): boolean => error instanceof ProblemError && CODES.has(error.problem.code);
