// lattice-server: reads flags and configuration, starts the server, prints one JSON line on stdout, and stops cleanly on
// SIGTERM or SIGINT.

import { setMaxListeners } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { Command, Option } from "commander";
import { type Config, ConfigError, fetchVaultSecrets, LOG_LEVELS, loadConfig } from "./base/config/index.ts";
import { createLogger, logStderr, reportFatal } from "./base/observe/index.ts";
import { LogError, ManagedError } from "./log/index.ts";
import type { LogStart } from "./log/log-config.ts";
import { startServer } from "./main/server.ts";
import { verifyAnywhere } from "./state/backup/index.ts";
import { ClusterMismatchError } from "./state/own-cluster.ts";

declare const LATTICE_VERSION: string | undefined;
const VERSION = typeof LATTICE_VERSION === "string" ? LATTICE_VERSION : "0.0.0-source";

/** Many parts wait for one stop signal; more listeners than this indicate a leak. */
const MAX_LISTENERS = 100;
setMaxListeners(MAX_LISTENERS);

/** After this time the process exits without waiting any longer. */
const STOP_DEADLINE_MS = 20_000;

interface Flags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly restListen?: string;
  readonly grpcListen?: string;
  readonly logLevel?: string;
  readonly bootstrap?: boolean;
  readonly join?: readonly string[];
  readonly replace?: boolean;
  readonly alone?: boolean;
  readonly joinToken?: string;
  readonly joinTokenFile?: string;
  readonly recoverFrom?: string;
  readonly verifyBackup?: string;
}

const program = new Command("lattice-server")
  .description("A member of the Lattice control plane.")
  .version(VERSION)
  .option("--config <file>", "configuration file (YAML)")
  .option("--data-dir <dir>", "directory of the log, snapshots and history")
  .option("--rest-listen <address>", "host:port of the REST API")
  .option("--grpc-listen <address>", "host:port of the gRPC API")
  .option("--bootstrap", "create a new cluster; only at the first start of its first server")
  .option(
    "--join <address...>",
    "join the cluster of the server at this address; only at the first start of a new server",
  )
  .option("--replace", "with --join: replace the member of this server, whose data is lost")
  .option("--alone", "continue as the only server of a cluster of two whose other member is lost")
  .addOption(new Option("--join-token <token>", "token for --join, with the scope member").env("LATTICE_JOIN_TOKEN"))
  .option("--join-token-file <file>", "file with the token for --join")
  .option(
    "--recover-from <backup>",
    "with --bootstrap: create the new cluster from this backup (a path or s3://bucket/key)",
  )
  .option("--verify-backup <backup>", "check whether this backup can be restored, and exit")
  .addOption(new Option("--log-level <level>", "minimum level of log lines").choices(LOG_LEVELS))
  .configureOutput({ outputError: (text) => reportFatal("lattice-server", text.trim()) })
  .showHelpAfterError(process.stderr.isTTY === true);

// By default the heap may double before a full collection. The live state is small and thousands of finished records pass
// through it, so a third suffices and halves the memory.
setFlagsFromString("--heap-growing-percent=30");

await main(program.parse().opts<Flags>());

async function main(flags: Flags): Promise<void> {
  await fetchSecrets(flags.config);
  const config = readConfig(flags);
  const logger = createLogger({ level: config.log.level, server: config.server.id });
  logStderr(process, logger, (code) => process.exit(code));
  if (flags.verifyBackup !== undefined) return verify(flags.verifyBackup, config);
  if (flags.recoverFrom !== undefined && flags.bootstrap !== true)
    fail("--recover-from creates a new cluster: use it with --bootstrap");
  const { recoverFrom } = flags;
  const begin = logStartOf(flags, config);
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
    const reason = isExplained(error) ? error.message : "the log cannot be followed";
    logger.fatal({ err: error }, reason);
    void stop(reason, 1);
  });

  process.stdout.write(`${JSON.stringify({ ready: true, rest: server.rest, grpc: server.grpc })}\n`);
  logger.info({ rest: server.rest, grpc: server.grpc, version: VERSION }, "serving");
}

/** Whether the message says what to do. */
const isExplained = (error: unknown): error is Error =>
  error instanceof ManagedError ||
  error instanceof ClusterMismatchError ||
  (error instanceof LogError && error.code === "log_lost");

async function verify(source: string, config: Config): Promise<void> {
  const found = await verifyAnywhere(source, config.backup).catch((error: unknown) => {
    fail(error instanceof Error ? error.message : String(error));
  });
  process.stdout.write(`${JSON.stringify(found)}\n`);
  process.exitCode = found.ok ? 0 : 1;
}

/** Servers that know each other as peers bootstrap together; a restored backup starts with one server. */
function logStartOf(
  { bootstrap, join, replace = false, alone, recoverFrom, ...flags }: Flags,
  { quorum }: Config,
): LogStart {
  if (bootstrap === true && join !== undefined) fail("--bootstrap and --join exclude each other: use one of them");
  if (alone === true && (bootstrap === true || join !== undefined))
    fail("--alone continues the log of this server: use it without --bootstrap and --join");
  if (alone === true && (quorum.engine !== "etcd" || !quorum.etcd.managed))
    fail("--alone is for servers with an etcd member of their own (quorum.etcd.managed)");
  if (alone === true) return "alone";
  if (replace && join === undefined) fail("--replace replaces a member of an existing cluster: use it with --join");
  if (join !== undefined) return { join, replace, ...joinToken(flags) };
  if (bootstrap !== true) return "resume";
  return quorum.peers.length > 0 && recoverFrom === undefined ? "bootstrap_together" : "bootstrap";
}

function joinToken({ joinToken: token, joinTokenFile: path }: Flags): { readonly token?: string } {
  if (path === undefined) return token === undefined || token === "" ? {} : { token };
  try {
    return { token: readFileSync(path, "utf8").split("\n")[0]?.trim() ?? "" };
  } catch (error) {
    return fail(`--join-token-file: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`);
  }
}

/** An unreadable file is reported when the configuration is loaded. */
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
  reportFatal("lattice-server", message);
  process.exit(1);
}
