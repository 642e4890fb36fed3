// What stands in plain output where bytes are no longer kept, so that nobody takes a log without its beginning for a whole
// one. Whoever needs bytes alone reads pieces with their positions.

export const skippedLine = ({ skipped, node }: { readonly skipped: string; readonly node: string }): string =>
  `[lattice: ${skipped} bytes of earlier output are no longer kept on ${node}]\n`;
