// lattice-server: reads its flags and its configuration once, starts the server, prints one
// JSON line on stdout, and stops cleanly on SIGTERM or SIGINT.

import { setMaxListeners } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { Command, Option } from "commander";
import { type Config, ConfigError, fetchVaultSecrets, LOG_LEVELS, loadConfig } from "./base/config/index.ts";
import { createLogger } from "./base/observe/index.ts";
import { ManagedError } from "./log/index.ts";
import type { LogStart } from "./log/log-config.ts";
import { startServer } from "./main/server.ts";
import { verifyAnywhere } from "./state/backup/index.ts";

declare const LATTICE_VERSION: string | undefined;
const VERSION = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "0.0.0-source";

/** Many parts wait for one stop signal; more listeners than this indicate a leak. */
const MOST_LISTENERS = 100;
setMaxListeners(MOST_LISTENERS);

/** A stop that takes longer than this is cut short. */
const STOP_DEADLINE_MS = 20_000;

interface Flags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly restListen?: string;
  readonly grpcListen?: string;
  readonly logLevel?: string;
  readonly bootstrap?: boolean;
  readonly join?: readonly string[];
  readonly recoverFrom?: string;
  readonly verifyBackup?: string;
}

const program = new Command("lattice-server")
  .description("A member of the Lattice control plane.")
  .version(VERSION)
  .option("--config <file>", "configuration file (YAML)")
  .option("--data-dir <dir>", "where the log, snapshots and history live")
  .option("--rest-listen <address>", "host:port of the REST API")
  .option("--grpc-listen <address>", "host:port of the gRPC API")
  .option("--bootstrap", "begin a new cluster; once, on the very first start of its first member")
  .option(
    "--join <address...>",
    "join the cluster of the server at this address; once, on the first start of a further one",
  )
  .option(
    "--recover-from <backup>",
    "with --bootstrap: begin the new cluster from this backup (a path or s3://bucket/key)",
  )
  .option("--verify-backup <backup>", "say whether this backup could be restored, and end")
  .addOption(new Option("--log-level <level>", "how much to log").choices(LOG_LEVELS))
  .showHelpAfterError();

// By default the heap may double before old records are looked for. The live state is small and
// finished records pass through it by the thousand: a third is enough, and halves the memory.
setFlagsFromString("--heap-growing-percent=30");

await main(program.parse().opts<Flags>());

async function main(flags: Flags): Promise<void> {
  await fetchSecrets(flags.config);
  const config = readConfig(flags);
  const logger = createLogger({ level: config.log.level, server: config.server.id });
  if (flags.verifyBackup !== undefined) return verify(flags.verifyBackup, config);
  if (flags.recoverFrom !== undefined && flags.bootstrap !== true)
    fail("--recover-from begins a new cluster; give --bootstrap with it");
  const { recoverFrom } = flags;
  const begin = howToBegin(flags);
  const server = await startServer({ config, logger, version: VERSION, begin, recoverFrom }).catch((error: unknown) => {
    fail(error instanceof Error ? error.message : String(error));
  });
  if (server === undefined) return;

  let stopping = false;
  const stop = async (reason: string, code: number) => {
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, "stopping");
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    await server.close();
    process.exit(code);
  };
  process.on("SIGTERM", () => void stop("SIGTERM", 0));
  process.on("SIGINT", () => void stop("SIGINT", 0));
  process.on("SIGHUP", () => server.reload());
  void server.failed.then((error) => {
    const reason = error instanceof ManagedError ? error.message : "the log cannot be followed any further";
    logger.fatal({ err: error }, reason);
    void stop(reason, 1);
  });

  process.stdout.write(`${JSON.stringify({ ready: true, rest: server.rest, grpc: server.grpc })}\n`);
  logger.info({ rest: server.rest, grpc: server.grpc, version: VERSION }, "serving");
}

async function verify(source: string, config: Config): Promise<void> {
  const found = await verifyAnywhere(source, config.backup).catch((error: unknown) => {
    fail(error instanceof Error ? error.message : String(error));
  });
  process.stdout.write(`${JSON.stringify(found)}\n`);
  process.exitCode = found.ok ? 0 : 1;
}

function howToBegin({ bootstrap, join }: Flags): LogStart {
  if (bootstrap === true && join !== undefined)
    fail("--bootstrap begins a cluster and --join joins one; give one of them");
  if (join !== undefined) return { join };
  return bootstrap === true ? "bootstrap" : "resume";
}

/** A file that cannot be read is said when it is read for itself. */
async function fetchSecrets(path: string | undefined): Promise<void> {
  const text = path === undefined || !existsSync(path) ? "" : readFileSync(path, "utf8");
  await fetchVaultSecrets(text, process.env).catch((error: Error) => fail(error.message));
}

function readConfig(flags: Flags) {
  try {
    return loadConfig(flags.config ?? null, {
      server: { data_dir: flags.dataDir },
      api: { rest_listen: flags.restListen, grpc_listen: flags.grpcListen },
      log: { level: flags.logLevel },
    });
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.message);
    throw error;
  }
}

function fail(message: string): never {
  process.stderr.write(`lattice-server: ${message}\n`);
  process.exit(1);
}
