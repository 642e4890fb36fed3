// The metadata of an image (`meta/env.json`): its mount point and its views. A view is a list of patches to the
// environment, applied in the order of the request.

export interface ImageMeta {
  readonly name: string;
  readonly mount: string;
  readonly views: ReadonlyMap<string, ImageView>;
}

interface ImageView {
  readonly description: string;
  readonly patches: readonly Patch[];
}

export type Patch =
  | { readonly op: "set"; readonly name: string; readonly value: string }
  | { readonly op: "unset"; readonly name: string }
  | { readonly op: "prepend" | "append"; readonly name: string; readonly value: string };

export const NO_META: ImageMeta = { name: "", mount: "", views: new Map() };

export const DEFAULT_MOUNT = "/user-environment";
export const TOOLS_MOUNT = "/user-tools";

export function parseMeta(text: string): ImageMeta {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error("meta/env.json of the image is not an object");
  const views = new Map<string, ImageView>();
  for (const [name, view] of Object.entries(isObject(value.views) ? value.views : {})) {
    if (isObject(view)) views.set(name, { description: textOf(view.description), patches: patchesOf(view) });
  }
  return { name: textOf(value.name), mount: textOf(value.mount), views };
}

/** Both forms in use: a list of patches in order, or lists and scalars by name. */
function patchesOf(view: Readonly<Record<string, unknown>>): Patch[] {
  if (Array.isArray(view.patches)) return view.patches.flatMap(patchOf);
  const env = isObject(view.env) ? view.env : {};
  const values = isObject(env.values) ? env.values : {};
  const patches: Patch[] = [];
  for (const [name, steps] of Object.entries(isObject(values.list) ? values.list : {})) {
    for (const step of Array.isArray(steps) ? steps : []) {
      if (isObject(step)) patches.push(...listPatch(name, textOf(step.op), step.value));
    }
  }
  for (const [name, scalar] of Object.entries(isObject(values.scalar) ? values.scalar : {})) {
    patches.push(scalar === null ? { op: "unset", name } : { op: "set", name, value: String(scalar) });
  }
  return patches;
}

function patchOf(value: unknown): Patch[] {
  if (!isObject(value)) return [];
  const { op, name } = { op: textOf(value.op), name: textOf(value.name) };
  return name === "" ? [] : listPatch(name, op, value.value);
}

function listPatch(name: string, op: string, given: unknown): Patch[] {
  const value = (Array.isArray(given) ? given.map(String) : [textOf(given)]).join(":");
  if (op === "unset") return [{ op, name }];
  if (op === "set" || op === "prepend" || op === "append") return [{ op, name, value }];
  return [];
}

export function applyPatches(
  environment: Readonly<Record<string, string>>,
  patches: readonly Patch[],
): Record<string, string> {
  const patched: Record<string, string> = { ...environment };
  for (const patch of patches) {
    const before = patched[patch.name] ?? "";
    if (patch.op === "unset") delete patched[patch.name];
    else if (patch.op === "set" || before === "") patched[patch.name] = patch.value;
    else patched[patch.name] = patch.op === "prepend" ? `${patch.value}:${before}` : `${before}:${patch.value}`;
  }
  return patched;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
