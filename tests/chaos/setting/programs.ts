// A copy of the built programs for one run: building again meanwhile must not make a server that is
// started again another program than it was.
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
  // Modules with native parts are found where they are installed.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return { server: join(folder, "server", "lattice-server.js"), agent: join(folder, "agent", "lattice-agent.js") };
}
