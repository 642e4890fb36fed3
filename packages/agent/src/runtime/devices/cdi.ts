// The devices in this node's CDI specifications: the name by which an engine requests each, and its device files. Only
// the names are used here; the engine handles the rest of a specification. Specifications are JSON, or YAML in block
// style with one key per line.

export interface CdiDevice {
  /** As requested from an engine: "nvidia.com/gpu=0". */
  readonly name: string;
  readonly paths: readonly string[];
}

/** Unparsable text describes no devices. */
export function cdiDevices(text: string): readonly CdiDevice[] {
  const { kind, devices } = text.trimStart().startsWith("{") ? fromJson(text) : fromYaml(text);
  if (!/^[\w.-]+\/[\w-]+$/.test(kind)) return [];
  return devices
    .filter(({ name }) => /^[\w.:-]+$/.test(name))
    .map(({ name, paths }) => ({ name: `${kind}=${name}`, paths }));
}

interface Spec {
  readonly kind: string;
  readonly devices: readonly CdiDevice[];
}

interface JsonSpec {
  readonly kind?: unknown;
  readonly devices?: readonly {
    readonly name?: unknown;
    readonly containerEdits?: { readonly deviceNodes?: readonly { readonly path?: unknown }[] };
  }[];
}

const NOTHING: Spec = { kind: "", devices: [] };

function fromJson(text: string): Spec {
  try {
    const { kind, devices = [] } = JSON.parse(text) as JsonSpec;
    return {
      kind: String(kind),
      devices: devices.map(({ name, containerEdits }) => ({
        name: String(name),
        paths: (containerEdits?.deviceNodes ?? []).map(({ path }) => String(path)),
      })),
    };
  } catch {
    return NOTHING;
  }
}

function fromYaml(text: string): Spec {
  let kind = "";
  let inDevices = false;
  let item = -1;
  const devices: { name: string; paths: string[] }[] = [];
  for (const line of text.split("\n")) {
    const read = /^(\s*)((?:- )*)([\w-]+):(?:\s+(.*))?$/.exec(line);
    if (read === null) continue;
    const [, blank = "", dashes = "", key = "", rest = ""] = read;
    const value = plain(rest);
    if (blank === "" && dashes === "") {
      inDevices = key === "devices";
      item = -1;
      if (key === "kind") kind = value;
      continue;
    }
    if (!inDevices) continue;
    // The first entry defines the indentation.
    if (dashes !== "" && item === -1) item = blank.length;
    if (dashes !== "" && blank.length === item) devices.push({ name: "", paths: [] });
    const device = devices.at(-1);
    if (device === undefined) continue;
    if (key === "name" && blank.length + dashes.length === item + "- ".length) device.name = value;
    if (key === "path") device.paths.push(value);
  }
  return { kind, devices };
}

const plain = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/, "$2");
