// What there is of each kind that completion offers. Where the server keeps no list of its own (users, tags, projects), what
// recent work says of itself stands for one.

import { readdirSync } from "node:fs";
import type { Allocation, CachedImage, LatticeClient } from "@lattice/sdk";
import { knownServers } from "../../login/token-cache.ts";
import type { ValueKind } from "./kinds.ts";

/** Longer than this nobody waits for a Tab. */
const PATIENCE_MS = 1_500;
/** More than fit on a screen. */
const OFFERED = 200;

const ROLES = ["tenant_admin", "claiming_user"] as const;
/** Where `lattice admin pki` keeps its files unless told otherwise. */
const PKI_FOLDER = "lattice-pki";

const options = { timeoutMs: PATIENCE_MS };

type Ask = (client: LatticeClient, user: string) => Promise<readonly string[]>;

async function recent(client: LatticeClient, of: (one: Allocation) => readonly (string | undefined)[]) {
  const { allocations = [] } = await client.list({ page_size: OFFERED }, options);
  return allocations.flatMap(of).filter((text) => text !== undefined);
}

const nodes = async (client: LatticeClient) => (await client.nodes.list({ page_size: OFFERED }, options)).nodes ?? [];

const images = async (client: LatticeClient) => (await client.images.list({}, options)).images ?? [];

async function cached(client: LatticeClient, isWanted: (image: CachedImage) => boolean): Promise<readonly string[]> {
  const { nodes: caches = [] } = await client.images.cache({}, options);
  const found = caches.flatMap(({ images: kept = [] }) => kept).filter(isWanted);
  return found.flatMap(({ name = "", other_names: others = [] }) => [name, ...others]);
}

export const ASK: Readonly<Record<ValueKind, Ask>> = {
  allocations: async (client, user) =>
    (await client.list({ user, page_size: OFFERED }, options)).allocations?.map(({ id }) => id) ?? [],
  nodes: async (client) => (await nodes(client)).map(({ id }) => id),
  groups: async (client) => (await nodes(client)).map(({ group = "" }) => group),
  vclusters: async (client) => (await client.vclusters.list({}, options)).vclusters?.map(({ id }) => id) ?? [],
  tenants: async (client) => (await client.tenants.list({}, options)).tenants?.map(({ id }) => id) ?? [],
  users: (client) => recent(client, ({ user }) => [user]),
  grantees: async (client) => [...(await recent(client, ({ user }) => [user])), ...ROLES],
  projects: (client) => recent(client, ({ spec }) => [spec?.project]),
  names: (client) => recent(client, ({ spec }) => [spec?.name]),
  tags: (client) => recent(client, ({ spec }) => Object.entries(spec?.tags ?? {}).map((pair) => pair.join("="))),
  "tag-names": (client) => recent(client, ({ spec }) => Object.keys(spec?.tags ?? {})),
  reasons: (client) => recent(client, ({ pending_reason_codes: codes = [] }) => codes),
  features: async (client) =>
    (await nodes(client)).flatMap(({ capabilities: { features = [], gpu_type = "" } = {} }) => [
      ...(gpu_type === "" ? [] : [`gpu_type=${gpu_type}`]),
      ...features,
    ]),
  images: async (client) => (await images(client)).map(({ name }) => name),
  "cached-images": (client) => cached(client, () => true),
  containers: (client) => cached(client, ({ kind }) => kind === "oci"),
  views: async (client) => (await images(client)).flatMap(({ views = [] }) => views.map(({ name }) => name)),
  dags: async (client, user) =>
    (await client.dags.list({ user, page_size: OFFERED }, options)).dags?.map(({ id }) => id) ?? [],
  services: async (client) => (await client.services.list(options)).services?.map(({ name }) => name) ?? [],
  sessions: async (client, user) =>
    (await client.sessions.list({ user, page_size: OFFERED }, options)).sessions?.map(({ id }) => id) ?? [],
  settings: async (client) => (await client.config.get(undefined, options)).settings?.map(({ key }) => key) ?? [],
  domains: async (client) => (await client.networks.list({}, options)).domains?.map(({ name }) => name) ?? [],
  members: async (client) => (await client.clusterStatus(options)).members?.map(({ id }) => id) ?? [],
  backups: async (client) => (await client.backups.list(undefined, options)).backups?.map(({ source }) => source) ?? [],
  "audit-events": async (client) =>
    (await client.audit.query({ page_size: OFFERED, newest_first: true }, options)).records?.map(
      ({ event_type }) => event_type,
    ) ?? [],
  certificates: async () =>
    readdirSync(PKI_FOLDER)
      .filter((file) => file.endsWith(".crt") && file !== "ca.crt")
      .map((file) => file.slice(0, -".crt".length)),
  servers: async () => knownServers(process.env),
};
