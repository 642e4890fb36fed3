// The parts of tests that call the whole API: three users of two tenants, tokens for every role, a request for every
// RPC about an owner's objects, and the expected result by the access rules.

import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { TenantId, UserName } from "@lattice/core";
import { SignJWT } from "jose";
import { reaches, reachOf, type Target } from "../../src/api/access/authorize.ts";
import { RULES } from "../../src/api/access/rules.ts";
import { type RpcName, SERVICES } from "../../src/api/call/rpc.ts";
import type { Principal, Role } from "../../src/base/auth/principal.ts";
import type { MemoryPlane } from "./memory-plane.ts";

export const SECRET = "a secret of more than thirty-two characters";
const SCOPE_OF: Readonly<Record<Role, string>> = {
  SystemAdmin: "admin",
  TenantAdmin: "tenant:admin",
  Operator: "operator",
  ClaimingUser: "sensitive:claim",
  ReadOnly: "readonly",
  User: "",
};

/** The owner relative to the caller: the caller, a colleague, another tenant. */
export const OWNERS = ["ada", "bob", "eve"] as const;
export type Owner = (typeof OWNERS)[number];
export const TENANT: Readonly<Record<Owner, string>> = { ada: "physics", bob: "physics", eve: "biology" };
export const target = (owner: Owner, sensitive = false): Target => ({
  tenant: TENANT[owner] as TenantId,
  user: owner as UserName,
  sensitive,
});

export type Rpc = { readonly name: RpcName; readonly input: DescMessage; readonly unary: boolean };
export const RPCS: readonly Rpc[] = SERVICES.flatMap((service) =>
  service.methods
    .filter(({ methodKind }) => methodKind !== "bidi_streaming")
    .map((method) => ({
      name: `${service.name}.${method.name}` as RpcName,
      input: method.input,
      unary: method.methodKind === "unary",
    })),
);

export const sign = (claims: object, expiry: string | number = "1h", secret = SECRET): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(expiry)
    .sign(new TextEncoder().encode(secret));

const tokens = new Map<string, string>();
export async function tokenOf(owner: Owner, role: Role): Promise<string> {
  const key = `${owner} ${role}`;
  const known = tokens.get(key) ?? (await sign({ sub: owner, tenant: TENANT[owner], scope: SCOPE_OF[role] }));
  tokens.set(key, known);
  return known;
}

/** A request about an object of the owner, filled by the field names of the contract. */
export function requestFor({ name, input }: Rpc, owner: Owner, plane: MemoryPlane): Message {
  const own = [...plane.view().allocations()].find(({ user, dag }) => user === owner && dag === undefined)?.id ?? "1";
  const ofDag = [...plane.view().allocations()].find(({ user, dag }) => user === owner && dag !== undefined)?.id ?? "2";
  const dag = [...plane.view().dags()].find(({ user }) => user === owner)?.id ?? "dag-1";
  const [service] = name.split(".");
  const ids: Readonly<Record<string, string>> = {
    AllocationService: own,
    DagService: dag,
    SessionService: `${own}.1`,
    NodeService: "n1",
    TaskService: own,
    EventService: own,
  };
  const byName: Readonly<Record<string, unknown>> = {
    id: /Tenant/.test(name) ? TENANT[owner] : /VCluster/.test(name) ? "hpc-batch" : (ids[service ?? ""] ?? "n1"),
    allocation_id: own,
    tenant: TENANT[owner],
    user: owner,
    role: "claiming_user",
    node: "n1",
    node_id: "n1",
    reason: "a walk",
    name: "walk",
    image: "prgenv-gnu/24.11:v1",
    command: ["true"],
    section: "storage",
    alerts_only: true,
    launch_id: "1",
    enrolment_id: "0123456789ab",
    key: "scheduling.max_dag_size",
    ids: [own, ofDag],
    allocation: { tenant: TENANT[owner], entrypoint: "true" },
    allocations: [{ name: "a", entrypoint: "true", tenant: TENANT[owner] }],
  };
  const special: Readonly<Partial<Record<RpcName, Record<string, unknown>>>> = {
    "AdminService.CreateTenant": { id: "chemistry" },
    "AdminService.UpdateTenant": { id: TENANT[owner], description: "walked" },
    // For one user the rule of GetUserUsage applies.
    "AdminService.GetTenantUsage": { id: TENANT[owner] },
    "AdminService.CreateVCluster": { id: "walk", tenant: TENANT[owner] },
    "AdminService.UpdateVCluster": { id: "hpc-batch", description: "walked" },
    "AllocationService.Update": { id: own, name: "walked" },
    "AllocationService.List": {},
    "AllocationService.Watch": { cursor: "1" },
    "SessionService.CreateSession": { allocationId: own },
    "SessionService.ListSessions": {},
    "DagService.ListDags": {},
    "AccessService.ListGrants": {},
    "AccessService.QueryAudit": {},
    // Made to fail after authorization: backups are named by the second, so successful ones would wait for each other.
    "AdminService.CreateBackup": { destination: "/not/allowed" },
    "AdminService.AddMember": { id: "server-9", peerAddress: "127.0.0.1:9009" },
    "AdminService.SetSignals": { signals: { energyPrice: 1 } },
  };
  const init = special[name] ?? Object.fromEntries(input.fields.flatMap((field) => filled(field, byName)));
  return create(input, init as never);
}

function filled(field: DescField, byName: Readonly<Record<string, unknown>>): [string, unknown][] {
  const value = byName[field.name];
  if (value === undefined || Array.isArray(value) !== (field.fieldKind === "list")) return [];
  const plain = field.fieldKind === "scalar" || field.fieldKind === "list";
  return plain || field.fieldKind === "message" ? [[field.localName, value]] : [];
}

/** Lists show what is in reach and hide the rest. */
export const LISTS = /\.(?:List(?!Events)\w*|QueryAudit|Watch|GetAccounting)$/;

/** The expected result by the table, for owned and for unowned objects. */
export function allowed(rpc: RpcName, principal: Principal, owner: Owner, sensitive = false): boolean {
  const { resource } = RULES[rpc];
  if (LISTS.test(rpc)) return reachOf(principal, rpc) !== "none";
  const nobodys = resource === "cluster" || resource === "nodes" || resource === "images" || /VCluster/.test(rpc);
  const made = rpc === "AdminService.CreateVCluster";
  // Submitted work belongs to the submitter, in any tenant.
  if (SUBMISSIONS.includes(rpc)) return reaches(principal, rpc, { ...target(owner), user: principal.user });
  return reaches(principal, rpc, nobodys && !made ? { tenant: null, user: null } : target(owner, sensitive));
}

const SUBMISSIONS: readonly RpcName[] = ["AllocationService.Submit", "AllocationService.Plan", "DagService.SubmitDag"];
