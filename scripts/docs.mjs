// Writes the pages that are made from the product itself; `--check` only says whether they are fresh.
import { jsonSchema } from "@herdctl/core";
import { openApiDocument } from "@herdctl/server";
import { speedPages } from "../bench/pages.mjs";
import { readRecord, recordFile } from "../bench/record.mjs";
import { fieldTables } from "./field-tables.mjs";
import { eventTable, routeTable } from "./route-table.mjs";
import { writePages } from "./write-pages.mjs";

const onlyCheck = process.argv.includes("--check");
const pages = {
  "docs/reference/configuration.md": configurationPage(),
  "docs/reference/control-api.md": controlApiPage(),
  ...speedPages(readRecord(recordFile)),
};
for (const path of writePages(pages, { onlyCheck })) {
  if (onlyCheck) {
    process.stderr.write(`${path} is stale: run \`node scripts/docs.mjs\`\n`);
    process.exitCode = 1;
  } else process.stdout.write(`${path}\n`);
}

function configurationPage() {
  return `# Configuration reference

Made by \`scripts/docs.mjs\` from the schema that checks the files; do not edit it by hand. The
[guide](../configuration.md) explains how the files work together.

A dot stands for a block inside a block, \`<name>\` for a name you choose, \`[]\` for each item of a
list. A required field is required within its block. Every value may be, or contain,
\`\${VARIABLE}\` or \`\${VARIABLE:-default}\`.

## Fleet file: \`herdctl.yaml\`

${fieldTables(jsonSchema("fleet"))}

## Agent

What stands in an agent file and in an agent written into the fleet file. \`defaults\` and
\`overrides\` take any part of it but the name.

${fieldTables(jsonSchema("agent"))}
`;
}

function controlApiPage() {
  const document = openApiDocument();
  return `# Control API reference

Made by \`scripts/docs.mjs\` from the contract that the server and its client share; do not edit it
by hand. The [guide](../control-api.md) shows how to call it. \`GET /v1/openapi.json\` gives the
whole contract, with every field of every answer, as an OpenAPI 3.1 document.

What begins with \`?\` stands in the query, the rest is the JSON body.

${routeTable(document)}

## Events

${eventTable(document)}
`;
}
