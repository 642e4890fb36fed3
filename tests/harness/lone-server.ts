// Starts a single server with given settings in a test's directory, on free ports.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Program, startProgram } from "./program.ts";
import type { Json } from "./rest.ts";

export interface LoneServer {
  readonly program: Program;
  /** host:port */
  readonly rest: string;
  readonly grpc: string;
}

export async function startLoneServer(dir: string, settings: Json): Promise<LoneServer> {
  const config = join(dir, "server.json");
  writeFileSync(config, JSON.stringify(settings));
  const listen = ["--rest-listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"];
  const program = startProgram("lattice-server", {
    args: ["--data-dir", join(dir, "server"), ...listen, "--config", config],
    logFile: join(dir, "server.log"),
  });
  const { rest, grpc } = await program.ready();
  return { program, rest: String(rest), grpc: String(grpc) };
}
