// The page around the charts: no script, font or image from elsewhere, so that it can be mailed and archived.

import { escapeXml } from "./svg.ts";

export function page(title: string, sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeXml(title)}</h1>
${sections.join("\n")}
</body>
</html>
`;
}

export function htmlTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table>${cells("th", head)}\n${body.map((row) => cells("td", row)).join("\n")}</table>`;
}

const STYLE = [
  "body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2rem auto;padding:0 1rem;color:#1c2530}",
  "svg{width:100%;height:auto;margin:1rem 0;font:11px system-ui,sans-serif;fill:#44505c}",
  "svg .title{font-size:14px;font-weight:600;fill:#1c2530}svg .grid{stroke:#d9dee3;stroke-width:1}",
  "table{border-collapse:collapse;width:100%;font-size:13px}th,td{text-align:left;padding:.25rem .5rem}",
  "th{border-bottom:2px solid #44505c}td{border-bottom:1px solid #d9dee3}pre{background:#f3f5f7;padding:.8rem}",
].join("");
