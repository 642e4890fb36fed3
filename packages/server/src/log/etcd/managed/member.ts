// A member of etcd of our own: adopted when it runs, started when it does not, and started again when
// it ends. It outlives this process: a server that is killed or upgraded finds it where it left it.
// It is stopped only when asked to.

import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdTls } from "../client/channel.ts";
import { createEtcdClient } from "../client/client.ts";
import { announce } from "./announce.ts";
import { findEtcd } from "./binary.ts";
import { beginningFlags, clientUrl, type MemberPlace, type MemberTls, runningFlags } from "./command-line.ts";
import { lastWords, markRemoved, refuseRemoved, saysRemoved, startAfresh } from "./farewell.ts";
import { ManagedError } from "./managed-error.ts";
import { findRunning, isAlive, type KnownProcess, startDetached, stopProcess } from "./process.ts";

/** A member that does not answer by then may be waiting for the others; one that ended by then is broken. */
const SETTLE_MS = 3_000;
const WATCH_MS = 500;
const BACKOFF_MS = { least: 500, most: 10_000 } as const;
/** A member that ran this long ended for a new reason: the next start waits the least again. */
const STEADY_MS = 60_000;

/** How a member that has no data yet begins. One that has data goes on from there. */
export type Begin =
  | { readonly kind: "resume" }
  /** A new cluster of these members, this one among them. All of them begin with the same list. */
  | { readonly kind: "bootstrap"; readonly members: readonly MemberPlace[] }
  /** An existing cluster that answers at these endpoints. */
  | { readonly kind: "join"; readonly endpoints: readonly string[] }
  /** An existing cluster that has been told of this member; all its members, this one among them. */
  | { readonly kind: "joined"; readonly members: readonly MemberPlace[] }
  /** Found out by asking, once it is clear that there is no data. */
  | { readonly kind: "ask"; readonly ask: () => Promise<Begin> };

export interface ManagedMemberOptions extends MemberPlace {
  readonly peerListen: string | null;
  readonly clientListen: string;
  /** For this member alone; everything it keeps is below it. */
  readonly dir: string;
  /** Null: found on the PATH. */
  readonly binary: string | null;
  /** Files for etcd, and what they say for our own calls. */
  readonly tls: { readonly files: MemberTls; readonly texts: EtcdTls } | null;
  readonly begin: Begin;
  readonly onWarning: (text: string) => void;
  /** The cluster has let it go: it has ended, and will not be started again. */
  readonly onRemoved?: (error: ManagedError) => void;
}

export interface ManagedMember {
  readonly endpoint: string;
  readonly version: string;
  /** Whether it ran already. */
  readonly adopted: boolean;
  pid(): number;
  /** Ends the supervision and leaves the member running. */
  release(): Promise<void>;
  /** Ends the member. */
  stop(): Promise<void>;
}

export async function startManagedMember(options: ManagedMemberOptions): Promise<ManagedMember> {
  const { dir, tls, onWarning } = options;
  const { path: binary, version } = await findEtcd(options.binary, process.env.PATH ?? "");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = { pidFile: join(dir, "etcd.pid"), logFile: join(dir, "etcd-output.txt") };
  const dataDir = join(dir, "data");
  const endpoint = clientUrl(options.clientListen, tls?.files ?? null);
  const flags = runningFlags({ ...options, dataDir, tls: tls?.files ?? null });
  const launch = (more: readonly string[]): Promise<KnownProcess> =>
    startDetached({ binary, args: [...flags, ...more], ...files });

  let running = await findRunning(files.pidFile, dataDir);
  if (running !== null && !flags.every((flag) => running?.args.includes(flag) === true)) {
    onWarning(`etcd (pid ${running.pid}) runs with other flags than the configuration says; it is started again`);
    await stopProcess(running);
    running = null;
  }
  const adopted = running !== null;
  if (!adopted) await refuseRemoved(dir, await holdsData(dataDir));
  let current = running ?? (await launch(await firstFlags(options, dataDir, files.logFile)));
  if (!adopted) await settle(current, endpoint, tls?.texts ?? null, { dir, ...files });

  const stop = new AbortController();
  const supervising = supervise();

  async function supervise(): Promise<void> {
    let backoffMs: number = BACKOFF_MS.least;
    let startedAt = performance.now();
    while (!stop.signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted || (await isAlive(current))) continue;
      if (await saysRemoved(files.logFile)) {
        options.onRemoved?.(await markRemoved(dir, files.logFile));
        return;
      }
      onWarning(`etcd (pid ${current.pid}) ended; it is started again in ${backoffMs} ms`);
      await sleep(backoffMs, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      backoffMs =
        performance.now() - startedAt > STEADY_MS ? BACKOFF_MS.least : Math.min(backoffMs * 2, BACKOFF_MS.most);
      startedAt = performance.now();
      current = await launch([]).catch((cause: Error) => {
        onWarning(`etcd could not be started: ${cause.message}`);
        return current;
      });
    }
  }
  const release = async (): Promise<void> => {
    stop.abort();
    await supervising;
  };

  return {
    endpoint,
    version,
    adopted,
    pid: () => current.pid,
    release,
    async stop() {
      await release();
      await stopProcess(current);
    },
  };
}

/** A member with data ignores how it began. */
async function firstFlags(options: ManagedMemberOptions, dataDir: string, logFile: string): Promise<readonly string[]> {
  if (await holdsData(dataDir)) return [];
  const flags = await flagsFor(options, options.begin, dataDir);
  await startAfresh(logFile);
  return flags;
}

const holdsData = (dataDir: string): Promise<boolean> =>
  stat(join(dataDir, "member")).then(
    () => true,
    () => false,
  );

async function flagsFor(options: ManagedMemberOptions, begin: Begin, dataDir: string): Promise<readonly string[]> {
  const tls = options.tls?.files ?? null;
  switch (begin.kind) {
    case "resume":
      throw new ManagedError(
        "no_data",
        `${dataDir} holds no etcd member; start once with --bootstrap for a new cluster, or with --join for an existing one`,
      );
    case "bootstrap":
      return beginningFlags(begin.members, "new", tls);
    case "joined":
      return beginningFlags(begin.members, "existing", tls);
    case "join":
      return beginningFlags(await announce(options, begin.endpoints), "existing", tls);
    case "ask":
      return flagsFor(options, await begin.ask(), dataDir);
  }
}

/** Resolves when it answers, or when it has not ended so far; throws with its last words when it has. */
async function settle(
  started: KnownProcess,
  endpoint: string,
  tls: EtcdTls | null,
  { dir, logFile }: { readonly dir: string; readonly logFile: string },
): Promise<void> {
  const client = createEtcdClient({ endpoints: [endpoint], tls });
  const until = performance.now() + SETTLE_MS;
  try {
    while (performance.now() < until) {
      if (!(await isAlive(started))) {
        if (await saysRemoved(logFile)) throw await markRemoved(dir, logFile);
        throw new ManagedError("did_not_start", `etcd ended at once; its last words:\n${await lastWords(logFile)}`);
      }
      if (
        await client.status(WATCH_MS).then(
          () => true,
          () => false,
        )
      )
        return;
      await sleep(WATCH_MS / 5);
    }
  } finally {
    client.close();
  }
}
