// The table of a made-up next version, in place of packages/core/src/base/versions.ts: one command and one field are new
// in version 2. Tests use it to check that servers of two versions share a log.

export const ENTRY_VERSION = 2;

export const COMMAND_VERSIONS: Readonly<Record<string, number>> = {
  "cluster.restore_begin": 2,
};

export const FIELD_VERSIONS = [
  {
    command: "node.drain",
    version: 2,
    isUsed: (command: { readonly kind: string }): boolean => "urgent" in command && command.urgent === true,
  },
];
