// The line that replaces discarded bytes in plain output, so that a truncated log does not look complete. Clients that
// need exact bytes read chunks with their offsets.

export const skippedLine = ({ skipped, node }: { readonly skipped: string; readonly node: string }): string =>
  `[lattice: ${skipped} bytes of earlier output are no longer kept on ${node}]\n`;
