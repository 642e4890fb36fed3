// Placeholders in paths of a submission, and of what a site allows: whose work it is.

import type { Order } from "../lifecycle/attempt.ts";

export type Whose = Pick<Order, "user" | "tenant" | "project" | "allocationId">;

export function fillIn(text: string, { user, tenant, project, allocationId }: Whose): string {
  const values: Readonly<Record<string, string>> = {
    ...{ user, tenant, project, allocation_id: allocationId, alloc_id: allocationId },
  };
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}
