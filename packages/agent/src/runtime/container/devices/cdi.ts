// The devices that this node's CDI specifications describe: by what name an engine is asked for each, and the device files
// that come with it. Read here only to find the names; what else a specification brings into a container is the
// engine's business. Specifications are JSON, or YAML as their generators write it: block style, one key to a line.

export interface CdiDevice {
  /** As an engine is asked for it: "nvidia.com/gpu=0". */
  readonly name: string;
  readonly paths: readonly string[];
}

/** What cannot be understood describes nothing. */
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
    // The first entry shows how far entries are set in.
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
