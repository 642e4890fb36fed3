// The ids of recently changed records, so that a reader with derived data can update it without walking every table.
// The memory is bounded: a reader that falls too far behind gets `null` and rebuilds. Nothing here is hashed or stored.

import type { AllocationId, NodeId, TenantId } from "../base/ids.ts";

export interface Changed {
  /** In order of change; a node that changed twice may come twice. */
  readonly nodes: readonly NodeId[];
  readonly allocations: ReadonlySet<AllocationId>;
  /** Tenants whose record or usage changed. */
  readonly tenants: ReadonlySet<TenantId>;
}

export interface Changes {
  /** The number of changes so far: an argument of a later `since`. */
  readonly count: number;
  /** Returns the changes after the first `count`; `null` when they are no longer remembered. */
  since(count: number): Changed | null;
}

export interface ChangeLog extends Changes {
  node(id: NodeId): void;
  /** Records a bulk change without a copy: the caller must not change the list. */
  nodes(ids: readonly NodeId[]): void;
  allocation(id: AllocationId): void;
  tenant(id: TenantId): void;
}

/** Enough for several entries of the largest size; about half a megabyte. */
const REMEMBERED = 32_768;

/** One change, or the nodes of a bulk change: a list of n nodes takes n places, of which only the first is set. */
type Change = NodeId | readonly NodeId[] | { readonly allocation: AllocationId } | { readonly tenant: TenantId };

export function createChangeLog(): ChangeLog {
  const ring: Change[] = [];
  let count = 0;
  /** The count at the last read: readers have seen every change before it. */
  let looked = 0;
  let lastTenant = "";
  let lastTenantAt = -1;

  function note(change: Change): void {
    ring[count % REMEMBERED] = change;
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
        const change = ring[n % REMEMBERED];
        if (change === undefined) return null;
        if (typeof change === "string") nodes.push(change);
        else if ("allocation" in change) allocations.add(change.allocation);
        else if ("tenant" in change) tenants.add(change.tenant);
        else {
          for (const node of change) nodes.push(node);
          n += change.length - 1;
        }
      }
      return { nodes, allocations, tenants };
    },
    node: note,
    nodes(list) {
      if (list.length === 0) return;
      ring[count % REMEMBERED] = list;
      count += list.length;
    },
    allocation: (id) => note({ allocation: id }),
    tenant(id) {
      // Every node of a large allocation reports its tenant; one change is enough for readers that have not looked since.
      if (id === lastTenant && lastTenantAt >= looked) return;
      lastTenant = id;
      lastTenantAt = count;
      note({ tenant: id });
    },
  };
}
