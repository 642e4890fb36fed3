// Fills placeholders such as {user} in paths of submissions and site settings.

import type { pb } from "@lattice/wire";

export type PathOwner = Pick<pb.RunOrder, "user" | "tenant" | "project" | "allocationId">;

export function fillIn(text: string, { user, tenant, project, allocationId }: PathOwner): string {
  const values: Readonly<Record<string, string>> = {
    user,
    tenant,
    project,
    allocation_id: allocationId,
    alloc_id: allocationId,
  };
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}
