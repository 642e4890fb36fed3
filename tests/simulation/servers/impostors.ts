// Servers that answer at an address of the cluster although they must not be obeyed: one of another cluster, and one
// that leads on an older copy of the log, half of the time writing on until that log is the longer one. Both are real
// servers. Half of the time they behave like a version that knows no identities: the agent's own check is then the only one.

import { create } from "@bufbuild/protobuf";
import { createMemoryStore, type MemoryStore } from "@lattice/server";
import { pb } from "@lattice/wire";
import { createExternalSystems } from "../external/external-systems.ts";
import type { MessageFaults } from "../faults/message-faults.ts";
import type { StreamEnd } from "../network/connection.ts";
import type { Network } from "../network/network.ts";
import { submission } from "../users/requests.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import { createServer, type ServerParts, type SimulatedServer } from "./server.ts";

export const FOREIGN_SERVER = "foreign";
export const OLDER_SERVER = "older";
const FOREIGN_CLUSTER = "f".repeat(32);
/** Submissions to the foreign cluster at each of its starts. */
const FOREIGN_JOBS = 3;
/** Submissions to the older copy: more than it lacks, one entry each. */
const OLDER_JOBS = 200;
const OLDER_SUBMIT_MS = 25;
/** Until it leads. */
const LEADING_MS = 1_500;
/** A log that is longer than any of the cluster. */
const LONGER = 1_000_000;

interface ImpostorParts {
  readonly world: World;
  readonly network: Network;
  readonly epochMs: number;
}

/** The effect of an impostor on a connection. */
interface Disguise {
  /** The server does not see the identity of the agent. */
  readonly blind: boolean;
  /** The welcome names no cluster. */
  readonly nameless: boolean;
  /** Added to the index of each message; -1 removes it. */
  readonly index: number;
}

export interface Impostors {
  /** Starts a server of another cluster. The returned function ends it. */
  foreign(random: Random): () => void;
  /** Starts a server on the log up to that entry. Returns null when such a copy is not possible. */
  older(random: Random, store: MemoryStore, through: number): (() => void) | null;
}

export function createImpostors(parts: ImpostorParts): Impostors {
  const foreignStore = createMemoryStore();
  let jobs = 0;

  function submitTo(server: SimulatedServer, random: Random): void {
    jobs += 1;
    const { command } = submission(random, `foreign-${jobs}`);
    server.propose(command).catch(() => undefined);
  }

  function submitMany(server: SimulatedServer, random: Random, count: number, everyMs: number): void {
    for (let n = 0; n < count; n++) parts.world.after(LEADING_MS + n * everyMs, () => submitTo(server, random));
  }

  return {
    foreign(random) {
      const index = random.pick([0, -1, LONGER]);
      const disguise = { blind: random.chance(0.7), nameless: random.chance(0.5), index };
      const server = createServer({ ...serverParts(parts, disguise), name: FOREIGN_SERVER, store: foreignStore });
      server.start();
      submitMany(server, random, FOREIGN_JOBS, 0);
      return server.crash;
    },
    older(random, store, through) {
      const copy = olderCopy(store, through);
      if (copy === null) return null;
      const disguise = { blind: random.chance(0.7), nameless: false, index: 0 };
      const grows = random.chance(0.5);
      const server = createServer({
        ...serverParts(parts, disguise),
        name: OLDER_SERVER,
        store: copy,
        clusterId: undefined,
        logFaultRates: { lossBefore: grows ? 0 : 1, lossAfter: 0, slowMs: 0, stale: false },
      });
      server.start();
      if (grows) submitMany(server, random, OLDER_JOBS, OLDER_SUBMIT_MS);
      return server.crash;
    },
  };
}

const NO_FAULTS: MessageFaults = {
  strikes: () => false,
  met: () => undefined,
  begin: () => undefined,
  stop: () => undefined,
};

function serverParts(
  { world, network, epochMs }: ImpostorParts,
  disguise: Disguise,
): Omit<ServerParts, "name" | "store"> {
  return {
    world,
    network,
    epochMs,
    clusterId: FOREIGN_CLUSTER,
    logFaultRates: { lossBefore: 0, lossAfter: 0, slowMs: 0, stale: false },
    external: createExternalSystems(world),
    messageFaults: NO_FAULTS,
    dataDir: null,
    onReplica: () => undefined,
    onFailed: (server) => server.crash(),
    onExpelled: () => undefined,
    onCycle: () => undefined,
    onWon: () => undefined,
    onCut: () => undefined,
    pass: () => Promise.reject(new Error("it has no other servers")),
    accepted: (stream) => disguised(stream, disguise),
  };
}

/** The store as it was at that entry; null when its snapshots are all newer. */
function olderCopy(store: MemoryStore, through: number): MemoryStore | null {
  const snapshots = store.snapshots.filter(({ info, corrupt }) => !corrupt && info.index <= through);
  if (store.firstIndex > 1 && (snapshots.at(-1)?.info.index ?? 0) < store.firstIndex - 1) return null;
  const copy = createMemoryStore();
  copy.entries.push(...store.entries.filter(({ index }) => index <= through));
  copy.firstIndex = store.firstIndex;
  copy.term = store.term;
  copy.snapshots = snapshots;
  return copy;
}

function disguised(stream: StreamEnd, { blind, nameless, index }: Disguise): StreamEnd {
  const mine: StreamEnd = {
    ...stream,
    write(message) {
      const { message: body, log } = message as pb.ServerMessage;
      const shown =
        nameless && body.case === "welcome"
          ? { case: body.case, value: create(pb.WelcomeSchema, { ...body.value, clusterId: "", clusterGeneration: 0 }) }
          : body;
      const { hash = "", termHash = "" } = log ?? {};
      const shownIndex = index < 0 ? 0 : (log?.index ?? 0) + index;
      const position = create(pb.LogPositionSchema, { index: shownIndex, hash, termHash });
      return stream.write(create(pb.ServerMessageSchema, { message: shown, log: position }));
    },
    on(event, listener) {
      if (event !== "data") return stream.on(event, listener);
      return stream.on(event, (message) => {
        const { message: body } = message as pb.AgentMessage;
        if (body.case !== "hello") return listener(message);
        // A node without a cluster would join this one, as a new node of any cluster does.
        if (body.value.clusterId === "") return stream.end();
        if (!blind) return listener(message);
        const hello = create(pb.HelloSchema, {
          ...body.value,
          clusterId: "",
          clusterGeneration: 0,
          knownLog: undefined,
        });
        listener(create(pb.AgentMessageSchema, { message: { case: "hello", value: hello } }));
      });
    },
  };
  return mine;
}
