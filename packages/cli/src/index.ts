// The package is a program; what it offers to other code is running it in this process.

export { runProgram } from "./program.ts";
export { version } from "./version.ts";
