// Starts other programs. Each call states the whole environment: the agent's own holds its token and the keys of the
// output store, and everything that runs as a job's user can be read by that user. A test forbids other ways to start one.

import * as child from "node:child_process";
import { HELPER_PATH } from "./executable.ts";

type Variables = Readonly<Record<string, string>>;
type WithVariables<Options> = Options & { readonly env: Variables };

/** The environment of root's own programs. */
export const HELPER_ENVIRONMENT: Variables = { PATH: HELPER_PATH, LC_ALL: "C" };

/** For programs that load a driver: a site may have installed it in its own place. */
export function driverEnvironment(): Record<string, string> {
  const names = Object.keys(process.env).filter((name) =>
    /^(LD_LIBRARY_PATH|(CUDA|NVIDIA|ROCM|HIP|NVML)_.*)$/.test(name),
  );
  return { ...HELPER_ENVIRONMENT, ...Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""])) };
}

export const spawn = (
  program: string,
  words: readonly string[],
  options: WithVariables<child.SpawnOptions>,
): child.ChildProcess => child.spawn(program, words, options);

export const spawnSync = (
  program: string,
  words: readonly string[],
  options: WithVariables<child.SpawnSyncOptions>,
): child.SpawnSyncReturns<string | Buffer> => child.spawnSync(program, words, options);

export const execFile = (
  program: string,
  words: readonly string[],
  options: WithVariables<child.ExecFileOptions>,
  ended: (error: child.ExecFileException | null, stdout: string, stderr: string) => void,
): child.ChildProcess => child.execFile(program, words, { ...options, encoding: "utf8" }, ended);
