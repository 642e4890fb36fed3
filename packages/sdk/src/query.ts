// Query strings: repeated keys for lists, nothing for what is absent or empty.

type QueryValue = string | number | boolean | readonly string[] | undefined;

export function queryString(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values as Record<string, QueryValue>)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
