// The public surface of the package: running the program in the caller's process.

export { runProgram } from "./whole-program.ts";
