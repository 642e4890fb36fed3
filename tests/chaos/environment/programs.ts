// A copy of the built programs for one run, so that a rebuild meanwhile does not change a restarted server.
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/program.ts";

export interface Programs {
  readonly server: string;
  readonly agent: string;
}

export function copyPrograms(folder: string): Programs {
  mkdirSync(folder, { recursive: true });
  for (const name of ["server", "agent"])
    cpSync(join(root, "packages", name, "dist"), join(folder, name), { recursive: true });
  // Modules with native parts are loaded from their installation.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return { server: join(folder, "server", "lattice-server.js"), agent: join(folder, "agent", "lattice-agent.js") };
}
