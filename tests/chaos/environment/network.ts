// A bridge and one network namespace per machine of the cluster. The whole run has its own network and mount
// namespaces (`namespaces.ts`), so names never clash and nothing is left behind. Cuts are blackhole routes between pairs;
// all other traffic continues.
import { mkdirSync } from "node:fs";
import { command } from "./command.ts";

export interface Machine {
  readonly name: string;
  readonly address: string;
  /** The command prefix that runs a program on this machine. */
  readonly enter: readonly string[];
}

export interface Network {
  readonly servers: readonly Machine[];
  readonly nodes: readonly Machine[];
  /** Blocks all packets between the two, both ways. */
  cut(a: Machine, b: Machine): Promise<void>;
  mend(a: Machine, b: Machine): Promise<void>;
  /** Blocks all packets between this machine and any other. */
  unplug(machine: Machine): Promise<void>;
  plug(machine: Machine): Promise<void>;
}

const BRIDGE = "chaos";
const NETWORK = "10.99.0";
const NODES_FROM = 100;
const OWN = `${NETWORK}.254/24`;
const NAMESPACES = "/run/netns";

export async function createNetwork(count: { readonly servers: number; readonly nodes: number }): Promise<Network> {
  mkdirSync(NAMESPACES, { recursive: true });
  await command(["mount", "-t", "tmpfs", "tmpfs", NAMESPACES]);
  await ip("link set lo up");
  await ip(`link add ${BRIDGE} type bridge`);
  await ip(`addr add ${OWN} dev ${BRIDGE}`);
  await ip(`link set ${BRIDGE} up`);
  const servers = Array.from({ length: count.servers }, (_, n) => machine(`s${n + 1}`, n + 1));
  const nodes = Array.from({ length: count.nodes }, (_, n) => machine(`n${n + 1}`, NODES_FROM + n + 1));
  for (const each of [...servers, ...nodes]) await connect(each);
  return {
    servers,
    nodes,
    async cut(a, b) {
      await ip(`-n ${a.name} route replace blackhole ${b.address}/32`);
      await ip(`-n ${b.name} route replace blackhole ${a.address}/32`);
    },
    async mend(a, b) {
      await ip(`-n ${a.name} route del blackhole ${b.address}/32`);
      await ip(`-n ${b.name} route del blackhole ${a.address}/32`);
    },
    unplug: async ({ name }) => void (await ip(`link set v-${name} down`)),
    plug: async ({ name }) => void (await ip(`link set v-${name} up`)),
  };
}

function machine(name: string, host: number): Machine {
  return { name, address: `${NETWORK}.${host}`, enter: ["nsenter", `--net=${NAMESPACES}/${name}`] };
}

async function connect({ name, address }: Machine): Promise<void> {
  await ip(`netns add ${name}`);
  await ip(`link add v-${name} type veth peer name eth0 netns ${name}`);
  await ip(`link set v-${name} master ${BRIDGE} up`);
  await ip(`-n ${name} addr add ${address}/24 dev eth0`);
  await ip(`-n ${name} link set eth0 up`);
  await ip(`-n ${name} link set lo up`);
}

const ip = (words: string): Promise<Buffer> => command(["ip", ...words.split(" ")]);
