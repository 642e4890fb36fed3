// Which records have changed lately, by id, so that a reader who keeps something made from them can bring
// it up to date without walking every table. Bounded: whoever looks away for longer than the memory
// lasts is told so, and starts over. Nothing here is hashed or stored.

import type { AllocationId, NodeId, TenantId } from "../ids.ts";

export interface Changed {
  /** In the order in which they changed; one that changed twice may come twice. */
  readonly nodes: readonly NodeId[];
  readonly allocations: ReadonlySet<AllocationId>;
  /** Their records, or what they use. */
  readonly tenants: ReadonlySet<TenantId>;
}

export interface Changes {
  /** How many there have been: to be handed to `since` later. */
  readonly count: number;
  /** What has changed since there were so many; null when that is too long ago to know. */
  since(count: number): Changed | null;
}

export interface ChangeLog extends Changes {
  node(id: NodeId): void;
  /** At once; the list stays as it is. */
  nodes(ids: readonly NodeId[]): void;
  allocation(id: AllocationId): void;
  tenant(id: TenantId): void;
}

/** Enough for several entries of the largest size; about half a megabyte. */
const REMEMBERED = 32_768;

const NODE = 0;
const ALLOCATION = 1;
const TENANT = 2;
/** Many in one place; the places after it, one for each of the others, are empty. */
const NODES = 3;

export function createChangeLog(): ChangeLog {
  const ids: (string | readonly NodeId[])[] = [];
  const kinds = new Uint8Array(REMEMBERED);
  let count = 0;
  /** Whoever looks next has seen what was noted before this. */
  let looked = 0;
  let lastTenant = "";
  let lastTenantAt = -1;

  function note(kind: number, id: string): void {
    const at = count % REMEMBERED;
    ids[at] = id;
    kinds[at] = kind;
    count += 1;
  }

  return {
    get count() {
      looked = count;
      return count;
    },
    since(before) {
      looked = count;
      if (count - before > REMEMBERED) return null;
      const nodes: NodeId[] = [];
      const allocations = new Set<AllocationId>();
      const tenants = new Set<TenantId>();
      for (let n = before; n < count; n += 1) {
        const at = n % REMEMBERED;
        const id = ids[at];
        if (kinds[at] === NODE) nodes.push(id as NodeId);
        else if (kinds[at] === NODES) {
          for (const node of id as readonly NodeId[]) nodes.push(node);
          n += (id as readonly NodeId[]).length - 1;
        } else if (kinds[at] === ALLOCATION) allocations.add(id as AllocationId);
        else tenants.add(id as TenantId);
      }
      return { nodes, allocations, tenants };
    },
    node: (id) => note(NODE, id),
    nodes(list) {
      if (list.length === 0) return;
      const at = count % REMEMBERED;
      ids[at] = list;
      kinds[at] = NODES;
      count += list.length;
    },
    allocation: (id) => note(ALLOCATION, id),
    tenant(id) {
      // Every node of a large allocation tells of its tenant; once is enough for all who have not looked since.
      if (id === lastTenant && lastTenantAt >= looked) return;
      lastTenant = id;
      lastTenantAt = count;
      note(TENANT, id);
    },
  };
}
