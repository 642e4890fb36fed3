// Looks up a name that came from outside. A plain `table[name]` would also find what every object
// inherits, such as "constructor".

export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
