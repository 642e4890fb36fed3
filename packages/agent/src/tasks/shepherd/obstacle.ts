// Finds why no rank could start, before trying: a missing program or folder is named, with the exit code that a shell
// gives. Only for ranks that run as the shepherd's own user: for others the question is whether that user may go there,
// which the ranks find out themselves (begin.ts).

import { isAbsolute, join, resolve } from "node:path";
import { isProgram, isThere } from "../../files/own-user.ts";
import type { ShepherdSpec } from "../frames.ts";
import type { RankEnd } from "./rank.ts";

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export function findObstacle(spec: ShepherdSpec): RankEnd | null {
  if (spec.prefix.length > 0) return null;
  if (!isThere(spec.workdir)) return because(NOT_EXECUTABLE, `the working directory ${spec.workdir} does not exist`);
  const program = spec.command[0] ?? "";
  const places = placesOf(program, spec);
  if (places.some(isProgram)) return null;
  const found = program.includes("/") && places.some(isThere);
  return found
    ? because(NOT_EXECUTABLE, `${program} cannot be executed`)
    : because(NOT_FOUND, `command not found: ${program}`);
}

function placesOf(program: string, { environment, workdir }: ShepherdSpec): readonly string[] {
  if (program === "") return [];
  if (program.includes("/")) return [resolve(workdir, program)];
  const folders = (environment.PATH ?? "").split(":");
  return folders.map((folder) => (isAbsolute(folder) ? join(folder, program) : resolve(workdir, folder, program)));
}

const because = (code: number, message: string): RankEnd => ({ code, signal: 0, message });
