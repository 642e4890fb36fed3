// What is said when a list is empty. Of somebody else that may be so because the caller may not see it.

/** `what`: "allocations", "DAGs". */
export function noneText(what: string, { user, self }: { readonly user?: string; readonly self?: string }): string {
  if (user === undefined) return `No ${what}.`;
  if (user === self) return `No ${what} of ${user}.`;
  return `No ${what} of ${user} that you may see: users see their own, administrators of a tenant those of all its users.`;
}
