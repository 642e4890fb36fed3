// The package is a program; what it offers to other code is running it in this process.

export { version } from "./version.ts";
export { runProgram } from "./whole-program.ts";
