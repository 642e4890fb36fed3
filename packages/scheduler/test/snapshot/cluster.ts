// A real state for the tests of snapshots: vClusters, nodes and submissions as commands, and plans that are committed.

import {
  applyEntry,
  type Command,
  createState,
  duration,
  ENTRY_VERSION,
  instant,
  logIndex,
  NO_CONSTRAINTS,
  type Origin,
  type State,
  term,
  type VCluster,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { type CycleResult, cycle, snapshotFor } from "../../src/index.ts";

export const AT = instant(1_000_000);
const origin: Origin = { user: "ada" as never, requestId: null, bodyHash: "" };

interface VClusterFields extends Partial<VCluster> {
  readonly id: string & VCluster["id"];
}

/** Returns a state with these vClusters and common nodes. */
export function clusterOf(vclusters: readonly VClusterFields[], nodes: readonly string[]): State {
  const state = createState();
  for (const { id, ...change } of vclusters) {
    apply(state, {
      kind: "vcluster.create",
      origin,
      vcluster: id,
      description: "",
      tenant: null,
      scheduler: "hpc_backfill",
      weights: WEIGHT_PROFILES.hpc_backfill,
      cycleInterval: duration(5000),
      backfillDepth: 1,
      defaultWalltime: duration(60_000),
      maxWalltime: null,
      isDefault: false,
      ...change,
    });
  }
  for (const node of nodes) apply(state, register(node));
  return state;
}

export const named = (id: string): string & VCluster["id"] => id as string & VCluster["id"];

/** Applies one command, which must be accepted, at this instant. */
export function apply(state: State, command: Command, at: number = AT): void {
  const index = logIndex(state.index + 1);
  const entry = { index, term: term(1), version: ENTRY_VERSION, at: instant(at), prevHash: "", commands: [command] };
  const [outcome] = applyEntry(state, entry).outcomes;
  if (outcome?.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
}

const register = (node: string): Command => ({
  kind: "node.register",
  node: node as never,
  capabilities: {
    cpuCores: 8,
    memoryBytes: 2 ** 30,
    gpuType: "A",
    gpuCount: 4,
    features: [],
    hostname: node,
    kernel: "",
    isolation: "",
    hollow: true,
  },
  group: "g" as never,
  conformance: "x",
  homeVCluster: null,
  address: "",
  agentVersion: "",
  bootId: "",
});

export interface SubmitFields {
  readonly nodes?: number;
  readonly class?: number;
  readonly minutes?: number;
  readonly lifecycle?: object;
  readonly constraints?: object;
  readonly spec?: object;
}

export function submit(state: State, vcluster: string, fields: SubmitFields = {}, at: number = AT): void {
  const nodes = fields.nodes ?? 1;
  const command: Command = {
    kind: "allocation.submit",
    origin,
    createTenant: true,
    spec: {
      tenant: "physics" as never,
      project: "",
      vcluster: vcluster as never,
      name: "",
      tags: {},
      intent: "",
      task: { kind: "command", words: ["true"] },
      environment: { variables: {}, workdir: "" },
      resources: {
        minNodes: nodes,
        maxNodes: nodes,
        tasksPerNode: 1,
        constraints: { ...NO_CONSTRAINTS, ...fields.constraints },
      },
      lifecycle: {
        kind: "bounded",
        walltime: duration((fields.minutes ?? 60) * 60_000),
        preemptionClass: fields.class ?? 3,
        requeuePolicy: "always",
        maxRequeue: 3,
        ...fields.lifecycle,
      },
      slurmEnv: false,
      ...fields.spec,
    },
  };
  apply(state, command, at);
}

export function policyNamed(state: State, id: string): VCluster {
  const found = state.vcluster(id as never);
  if (found === undefined) throw new Error(`no vCluster ${id}`);
  return found;
}

/** Plans for the vCluster and commits the placements. */
export function plan(state: State, id: string, at: number = AT): CycleResult {
  const vcluster = policyNamed(state, id);
  const result = cycle(snapshotFor(state, vcluster, instant(at)));
  const { basis, placements } = result;
  apply(state, { kind: "plan.commit", vcluster: vcluster.id, basis, placements }, at);
  return result;
}
