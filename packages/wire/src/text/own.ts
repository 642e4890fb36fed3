// Looks up a name from outside. A plain `table[name]` would also find inherited properties such as "constructor".

export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
