// The keys of job tokens are in the state: a token of a replaced key is accepted by the next leader, by a server that
// starts from a snapshot, and by a restored cluster, until the key expires.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import {
  type AllocationId,
  type Command,
  instant,
  minimalSpec,
  seconds,
  type UserName,
  type VClusterId,
  type View,
} from "@lattice/core";
import { problemOf } from "@lattice/wire";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { withGrants } from "../../../src/api/access/granted.ts";
import { createAuthenticator } from "../../../src/base/auth/authenticator.ts";
import { jobKeysOf } from "../../../src/base/auth/job-tokens.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { loadConfig } from "../../../src/base/config/index.ts";
import { startSequencer } from "../../../src/lead/commit/sequencer.ts";
import { bootstrap, SECRET_BYTES } from "../../../src/lead/leader/bootstrap.ts";
import {
  createMemoryStore,
  type MemoryStore,
  openEmbeddedLog,
  openMemoryLog,
  type ReplicatedLog,
} from "../../../src/log/index.ts";
import { createJobToken, JOB_TOKEN_SECONDS } from "../../../src/nodes/agents/job-token.ts";
import { recoverFrom } from "../../../src/state/backup/recover.ts";
import { openReplica } from "../../../src/state/replica/replica.ts";
import { backupsOf, configFor, machine, never, openTestHistory, temporary } from "../../state/backup/rig.ts";

const { auth } = loadConfig(null, { api: { oidc_issuer: "https://id.example.com", oidc_client_id: "lattice" } }).api;
const ADA = { user: "ada" as UserName, requestId: null, bodyHash: "" };
const JOB = { user: "ada", tenant: "default", allocationId: "1" };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The authentication of a server, from its state. */
function server(view: View, now: () => number = Date.now) {
  const jobKeys = () => jobKeysOf(view, now());
  const authenticator = createAuthenticator(auth, { jobKeys });
  return {
    jobKeys,
    mint: () => createJobToken(auth, Date.now, jobKeys)(JOB),
    async knows(...tokens: readonly string[]): Promise<readonly string[]> {
      const asked = tokens.map(async (token) => {
        const headers = (name: string) => (name === "authorization" ? `Bearer ${token}` : undefined);
        return withGrants(await authenticator.authenticate(headers), view).user;
      });
      const answers = await Promise.allSettled(asked);
      return answers.map((one) => (one.status === "fulfilled" ? one.value : problemOf(one.reason).code));
    },
  };
}

const newKey = (): string => randomBytes(SECRET_BYTES).toString("base64url");
const rotation = (): Command => ({
  kind: "secret.rotate",
  origin: ADA,
  name: "jobs",
  value: newKey(),
  keep: seconds(JOB_TOKEN_SECONDS),
});
const submission = (vcluster: string): Command => ({
  kind: "allocation.submit",
  origin: ADA,
  createTenant: false,
  spec: minimalSpec({ vcluster: vcluster as VClusterId, task: { kind: "script", text: "true" } }),
});

async function member(store: MemoryStore, name: string) {
  const log = openMemoryLog({ store, name });
  const replica = await openReplica(log, () => {});
  closers.push(
    () => log.close(),
    () => replica.close(),
  );
  return { log, replica, ...server(replica.view) };
}

type Member = Awaited<ReturnType<typeof member>>;

/** Bootstraps like a new leader, proposes the commands, and resigns. */
async function reign({ log, replica }: Member, name: string, commands: readonly Command[]): Promise<void> {
  const leadership = await log.campaign(name, never);
  await replica.waitFor(log.status().lastIndex, never);
  const sequencer = startSequencer({
    log,
    replica,
    leadership,
    clock: systemClock,
    onBatch: () => {},
    readers: () => [],
  });
  const { view } = replica;
  const config = loadConfig(null, { api: { oidc_issuer: "https://id.example.com", oidc_client_id: "lattice" } });
  await bootstrap(view, sequencer, config);
  for (const command of commands) {
    const { outcome } = await sequencer.propose(command);
    expect(outcome).toMatchObject({ kind: "accepted" });
  }
  await sequencer.close();
  await leadership.resign();
}

const caughtUp = ({ log, replica }: { log: ReplicatedLog; replica: Member["replica"] }) =>
  replica.waitFor(log.status().lastIndex, never);

describe("a change of leader", () => {
  test("a new leader accepts tokens of earlier keys and signs with the newest", async () => {
    const store = createMemoryStore();
    const one = await member(store, "s1");
    const two = await member(store, "s2");
    await reign(one, "s1", [submission("hpc-batch")]);
    const first = one.mint();
    await reign(one, "s1", [rotation()]);
    const second = one.mint();
    await reign(two, "s2", []);
    expect(two.jobKeys()).toEqual(one.jobKeys());
    expect(two.jobKeys()).toHaveLength(2);
    expect(await two.knows(first, second, two.mint())).toEqual(["ada", "ada", "ada"]);

    await reign(two, "s2", [rotation()]);
    await caughtUp(one);
    const third = two.mint();
    expect(await one.knows(first, second, third)).toEqual(["ada", "ada", "ada"]);
    expect(two.jobKeys()).toHaveLength(3);
    const [last] = two.replica.view.earlierSecrets("jobs");
    const afterwards = server(two.replica.view, () => (last?.until ?? 0) + 1);
    expect(await afterwards.knows(first, second, third), "when they count no more").toEqual([
      "unauthenticated",
      "unauthenticated",
      "ada",
    ]);
  });

  test("a server that starts from a snapshot accepts them", async () => {
    const store = createMemoryStore();
    const one = await member(store, "s1");
    await reign(one, "s1", [submission("hpc-batch")]);
    const first = one.mint();
    await reign(one, "s1", [rotation()]);
    const { at, lines } = one.replica.snapshot();
    await one.log.saveSnapshot({ index: at.index, term: at.term }, lines);
    const late = await member(store, "s3");
    expect(late.replica.head().index).toBe(at.index);
    expect(await late.knows(first, one.mint(), late.mint())).toEqual(["ada", "ada", "ada"]);
    await reign(late, "s3", []);
    expect(late.jobKeys(), "no other is made").toEqual(one.jobKeys());
  });
});

describe("a restored cluster", async () => {
  const dir = temporary();
  const history = await openTestHistory(dir);
  const source = machine(Date.now() - 60_000);
  source.apply({ kind: "secret.keep", name: "jobs", value: newKey() }, submission("batch"));
  const before = server(source.state);
  const first = before.mint();
  source.apply(rotation());
  const second = before.mint();
  const backups = backupsOf(configFor(join(dir, "backups")), source, history);
  const backup = await backups.create("", never);
  await history.close();

  test("a restore into a running cluster replaces its key", async () => {
    const target = machine(Date.now());
    target.apply({ kind: "secret.keep", name: "jobs", value: newKey() });
    const now = server(target.state);
    expect(await now.knows(first, second)).toEqual(["unauthenticated", "unauthenticated"]);
    const strange = now.mint();
    const context = {
      async propose(command: Command) {
        const { outcomes, index } = target.apply(command);
        const [outcome] = outcomes;
        if (outcome === undefined) throw new Error("no outcome");
        return { outcome, index };
      },
    };
    const refused = ({ refusal }: { readonly refusal: { readonly detail: string } }) => new Error(refusal.detail);
    await backups.restore(backup.source, context, { origin: ADA, signal: never, refused });
    expect(target.state.allocation("1" as AllocationId)?.user).toBe("ada");
    expect(await now.knows(first, second, now.mint(), strange)).toEqual(["ada", "ada", "ada", "unauthenticated"]);
  });

  test("a restore as a new log keeps the keys", async () => {
    const config = loadConfig(null, { server: { data_dir: join(dir, "new") } });
    const place = { engine: "embedded", dir: config.quorum.dataDir } as const;
    const logger = pino({ level: "silent" });
    await recoverFrom(backup.source, { config, log: place, logger, nowMs: instant(Date.now()) });
    const log = await openEmbeddedLog({ dir: config.quorum.dataDir });
    const replica = await openReplica(log, () => {});
    closers.push(
      () => log.close(),
      () => replica.close(),
    );
    const now = server(replica.view);
    expect(now.jobKeys()).toEqual(before.jobKeys());
    expect(await now.knows(first, second, now.mint())).toEqual(["ada", "ada", "ada"]);
  });
});
