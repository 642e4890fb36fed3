// The message for an empty list. A list of another user's objects may be empty because the caller may not see them.

/** `what` is a plural noun such as "allocations" or "DAGs". */
export function emptyListText(
  what: string,
  { user, self }: { readonly user?: string | undefined; readonly self?: string },
): string {
  if (user === undefined) return `No ${what}.`;
  if (user === self) return `No ${what} of ${user}.`;
  return `No ${what} of ${user} that you may see: users see their own, tenant administrators all of their tenant.`;
}
