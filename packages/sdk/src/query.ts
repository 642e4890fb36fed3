// Query strings: lists repeat their key; absent and empty values are omitted.

type QueryValue = string | number | boolean | readonly string[] | undefined;

export function queryString(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values as Record<string, QueryValue>)) {
    if (value === undefined || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
