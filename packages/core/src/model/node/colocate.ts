// Chooses the cores and GPUs of an allocation on a shared node: from one memory domain where one has enough of both,
// else domain by domain along the fastest links.

import type { MemoryTopology } from "./topology.ts";

export interface ColocationRequest {
  readonly cpuCores: number;
  readonly gpuCount: number;
}

export interface Spot {
  readonly domain: number;
  readonly cpus: readonly number[];
  readonly gpus: readonly number[];
}

/**
 * Returns free cores and GPUs for one allocation: from one NUMA domain where one has both, the domain with the best NIC
 * first; else domain by domain along the fastest links. `null` when too few are free.
 */
export function colocate(
  topology: MemoryTopology,
  wish: ColocationRequest,
  free: { readonly cpus: ReadonlySet<number>; readonly gpus: ReadonlySet<number> },
  nicOf: (gpu: number) => string | undefined = () => undefined,
): readonly Spot[] | null {
  const spots = topology.domains
    .filter((domain) => domain.kind !== "cxl")
    .map((domain) => ({
      domain: domain.id,
      cpus: domain.cpus.filter((cpu) => free.cpus.has(cpu)),
      gpus: domain.gpus.filter((gpu) => free.gpus.has(gpu)),
    }));
  const nics = (spot: Spot): number => spot.gpus.filter((gpu) => nicOf(gpu) !== undefined).length;
  const whole = spots
    .filter((spot) => spot.cpus.length >= wish.cpuCores && spot.gpus.length >= wish.gpuCount)
    // The best NIC, then the tightest fit.
    .sort((a, b) => nics(b) - nics(a) || size(a) - size(b) || a.domain - b.domain)[0];
  if (whole !== undefined) return [cut(whole, wish)];
  return spread(topology, wish, spots);
}

function spread(topology: MemoryTopology, wish: ColocationRequest, spots: readonly Spot[]): readonly Spot[] | null {
  const left = [...spots].sort((a, b) => b.gpus.length - a.gpus.length || size(b) - size(a) || a.domain - b.domain);
  const chosen: Spot[] = [];
  let cpuCores = wish.cpuCores;
  let gpuCount = wish.gpuCount;
  while (cpuCores > 0 || gpuCount > 0) {
    const next = nearest(topology, chosen, left, { cpuCores, gpuCount });
    if (next === undefined) return null;
    left.splice(left.indexOf(next), 1);
    const taken = cut(next, { cpuCores, gpuCount });
    chosen.push(taken);
    cpuCores -= taken.cpus.length;
    gpuCount -= taken.gpus.length;
  }
  return chosen;
}

/** Returns the useful domain with the fastest link to the chosen ones. */
function nearest(topology: MemoryTopology, chosen: readonly Spot[], left: readonly Spot[], wish: ColocationRequest) {
  const useful = left.filter(
    (spot) => (wish.cpuCores > 0 && spot.cpus.length > 0) || (wish.gpuCount > 0 && spot.gpus.length > 0),
  );
  const speed = (spot: Spot): number =>
    topology.interconnects.reduce((fastest, { a, b, bandwidthMBps }) => {
      const joins = chosen.some(
        ({ domain }) => (a === domain && b === spot.domain) || (b === domain && a === spot.domain),
      );
      return joins ? Math.max(fastest, bandwidthMBps) : fastest;
    }, 0);
  return useful.reduce<Spot | undefined>(
    (best, spot) => (best === undefined || speed(spot) > speed(best) ? spot : best),
    undefined,
  );
}

const size = (spot: Spot): number => spot.cpus.length + spot.gpus.length;
const cut = ({ domain, cpus, gpus }: Spot, wish: ColocationRequest): Spot => ({
  domain,
  cpus: cpus.slice(0, wish.cpuCores),
  gpus: gpus.slice(0, wish.gpuCount),
});
