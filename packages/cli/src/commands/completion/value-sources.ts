// The values of each kind for completion. Where the server has no list (users, tags, projects), recent allocations are
// searched instead.

import { readdirSync } from "node:fs";
import type { Allocation, CachedImage, LatticeClient } from "@lattice/sdk";
import { knownServers } from "../../login/token-cache.ts";
import type { ValueKind } from "./kinds.ts";

/** The user waits for this at every Tab. */
const TIMEOUT_MS = 1_500;
/** More than fits on a screen. */
const MAX_VALUES = 200;

const ROLES = ["tenant_admin", "claiming_user"] as const;
/** The default --dir of `lattice admin pki`. */
const PKI_FOLDER = "lattice-pki";

const options = { timeoutMs: TIMEOUT_MS };

type ValueSource = (client: LatticeClient, user: string) => Promise<readonly string[]>;

async function recent(client: LatticeClient, of: (one: Allocation) => readonly (string | undefined)[]) {
  const { allocations = [] } = await client.list({ page_size: MAX_VALUES }, options);
  return allocations.flatMap(of).filter((text) => text !== undefined);
}

const nodes = async (client: LatticeClient) =>
  (await client.nodes.list({ page_size: MAX_VALUES }, options)).nodes ?? [];

const images = async (client: LatticeClient) => (await client.images.list({}, options)).images ?? [];

async function cached(client: LatticeClient, isMatch: (image: CachedImage) => boolean): Promise<readonly string[]> {
  const { nodes: caches = [] } = await client.images.cache({}, options);
  const found = caches.flatMap(({ images: kept = [] }) => kept).filter(isMatch);
  return found.flatMap(({ name = "", other_names: others = [] }) => [name, ...others]);
}

export const VALUE_SOURCES: Readonly<Record<ValueKind, ValueSource>> = {
  allocations: async (client, user) =>
    (await client.list({ user, page_size: MAX_VALUES }, options)).allocations?.map(({ id }) => id) ?? [],
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
    (await client.dags.list({ user, page_size: MAX_VALUES }, options)).dags?.map(({ id }) => id) ?? [],
  services: async (client) => (await client.services.list({}, options)).services?.map(({ name }) => name) ?? [],
  sessions: async (client, user) =>
    (await client.sessions.list({ user, page_size: MAX_VALUES }, options)).sessions?.map(({ id }) => id) ?? [],
  settings: async (client) => (await client.config.get(undefined, options)).settings?.map(({ key }) => key) ?? [],
  domains: async (client) => (await client.networks.list({}, options)).domains?.map(({ name }) => name) ?? [],
  members: async (client) => (await client.clusterStatus(options)).members?.map(({ id }) => id) ?? [],
  backups: async (client) => (await client.backups.list(undefined, options)).backups?.map(({ source }) => source) ?? [],
  "backup-clusters": async (client) =>
    (await client.backups.list(undefined, options)).backups?.map(({ cluster_id: id = "" }) => id) ?? [],
  "audit-events": async (client) =>
    (await client.audit.query({ page_size: MAX_VALUES, newest_first: true }, options)).records?.map(
      ({ event_type }) => event_type,
    ) ?? [],
  certificates: async () =>
    readdirSync(PKI_FOLDER)
      .filter((file) => file.endsWith(".crt") && file !== "ca.crt")
      .map((file) => file.slice(0, -".crt".length)),
  servers: async () => knownServers(process.env),
};
