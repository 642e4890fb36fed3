export declare const CALLS: Readonly<
  Record<string, { readonly ts: string; readonly py: string; readonly hand?: "ts" | "py" | "both" }>
>;
